//! Why an order could not be obeyed.

use protocol::Token;

/// What the controller is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// Operation, object and reason.
    pub(crate) because: String,
    /// Whether the kernel lacks what is needed.
    pub(crate) unsupported: bool,
}

impl Refusal {
    pub(crate) fn new(because: impl Into<String>) -> Self {
        Self { because: because.into(), unsupported: false }
    }

    pub(crate) fn over() -> Self {
        Self::new("the session is over; start an agent anew")
    }

    pub(crate) fn unknown(token: Token) -> Self {
        Self::new(format!("no server of trial {token} is open here; serve it first"))
    }
}

impl From<sys::Error> for Refusal {
    fn from(error: sys::Error) -> Self {
        Self { because: error.to_string(), unsupported: error.is_unsupported() }
    }
}

impl From<traffic::Error> for Refusal {
    fn from(error: traffic::Error) -> Self {
        let unsupported = error.is_unsupported();
        if error.is_stopped() {
            return Self::new("the trial was abandoned");
        }
        Self { because: error.to_string(), unsupported }
    }
}
