//! Exit statuses of all commands.

use std::process::ExitCode;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// 0: success.
    Success,
    /// 1: failure. The message has the cause and a remedy.
    Failure,
    /// 1, only from `plumb check` and `plumb watch --once`: a regression beyond the limit was found.
    Lost,
    /// 2, only from these two: inconclusive.
    CannotTell,
    /// 3: nothing can be measured on this machine, or every result was skipped.
    Unable,
    /// 64: a usage error, e.g. in a flag, scenario or name. EX_USAGE of sysexits.h, because the usual 2
    /// means inconclusive.
    Misuse,
    /// 65, only from these two: the check could not run, e.g. because a run cannot be read. Never means a
    /// regression.
    NotChecked,
    /// Of a program that plumb ran.
    Program(u8),
    /// 130: interrupted; finished trials are stored.
    Interrupted,
}

impl Exit {
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Failure | Self::Lost => 1,
            Self::CannotTell => 2,
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
