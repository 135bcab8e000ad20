//! How a command ends: every exit status, documented once.

use std::process::ExitCode;

/// The exit statuses of `plumb`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// 0: it did what was asked.
    Success,
    /// 1: it was tried and failed; the message says what, where and what to do.
    Failure,
    /// 2: what was asked makes no sense: a flag, a scenario, a name.
    Misuse,
    /// 3: nothing could be measured here: every cell was skipped, or this machine lacks what is needed.
    Unable,
    /// 130: interrupted; finished trials are kept.
    Interrupted,
}

impl Exit {
    /// Its number.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Failure => 1,
            Self::Misuse => 2,
            Self::Unable => 3,
            Self::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
