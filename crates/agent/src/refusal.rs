//! The errors that an agent reports for an order.

use protocol::Token;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) reason: String,
    pub(crate) unsupported: bool,
}

impl Refusal {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), unsupported: false }
    }

    pub(crate) fn over() -> Self {
        Self::new("the session has ended; start a new agent")
    }

    pub(crate) fn unknown(token: Token) -> Self {
        Self::new(format!("there is no server for trial {token}; send serve first"))
    }
}

impl From<sys::Error> for Refusal {
    fn from(error: sys::Error) -> Self {
        Self { reason: error.to_string(), unsupported: error.is_unsupported() }
    }
}

impl From<traffic::Error> for Refusal {
    fn from(error: traffic::Error) -> Self {
        let unsupported = error.is_unsupported();
        if error.is_stopped() {
            return Self::new("the trial was abandoned");
        }
        Self { reason: error.to_string(), unsupported }
    }
}
