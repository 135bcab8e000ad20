//! Exit statuses of all commands.

use std::process::ExitCode;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// 0: the command succeeded.
    Success,
    /// 1: the command failed.
    Failure,
    /// 1: a regression beyond the limit was found. Only for `check` and `watch --once`.
    Lost,
    /// 2: the check was inconclusive. Only for `check` and `watch --once`.
    Inconclusive,
    /// 3: nothing can be measured on this machine, or every result was skipped.
    Unable,
    /// 64 (EX_USAGE in sysexits.h): a usage error, e.g. in a flag, scenario or name.
    Misuse,
    /// 65: the check could not run, e.g. because a run cannot be read. Only for `check` and `watch --once`.
    NotChecked,
    Program(u8),
    /// 130: the command was interrupted. Finished trials are stored.
    Interrupted,
}

impl Exit {
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Failure | Self::Lost => 1,
            Self::Inconclusive => 2,
            Self::Unable => 3,
            Self::Misuse => 64,
            Self::NotChecked => 65,
            Self::Program(status) => status,
            Self::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
