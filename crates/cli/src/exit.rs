//! How a command ends: every exit status, documented once.

use std::process::ExitCode;

/// The exit statuses of `plumb`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// 0: it did what was asked.
    Success,
    /// 1: it was tried and failed; the message says what, where and what to do.
    Failure,
    /// 1, of `plumb check` and `plumb watch --once` alone: a loss beyond the threshold is established.
    Lost,
    /// 2, of these alone: neither a loss nor that there is none is established.
    CannotTell,
    /// 3: nothing could be measured here: every cell was skipped, or this machine lacks what is needed.
    Unable,
    /// 64: a usage error: a flag, a scenario, a name. Not the usual 2, which is a verdict here; the
    /// number is EX_USAGE of sysexits.h.
    Misuse,
    /// 65, of these alone: it could not be checked, such as a run that cannot be read; never taken for a loss.
    NotChecked,
    /// 130: interrupted; finished trials are kept.
    Interrupted,
}

impl Exit {
    /// Its number.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Failure | Self::Lost => 1,
            Self::CannotTell => 2,
            Self::Unable => 3,
            Self::Misuse => 64,
            Self::NotChecked => 65,
            Self::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
