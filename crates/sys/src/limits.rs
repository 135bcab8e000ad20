//! Limits of resources that the kernel sets to a process.
//!
//! It must not know what the resources are used for. See getrlimit(2).

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::error::{Context, Result};

/// How many descriptors a process may hold; `u64::MAX` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenFiles {
    /// The limit in force.
    pub soft: u64,
    /// How far the process itself may raise it.
    pub hard: u64,
}

/// The limit of open descriptors of this process.
#[must_use]
pub fn open_files() -> OpenFiles {
    let limit = getrlimit(Resource::Nofile);
    OpenFiles { soft: limit.current.unwrap_or(u64::MAX), hard: limit.maximum.unwrap_or(u64::MAX) }
}

/// Raises the limit of open descriptors as far as the process may, and returns it.
pub fn raise_open_files() -> Result<u64> {
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })
        .named("raise limit of", || "open files")?;
    Ok(open_files().soft)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raising_takes_the_soft_limit_to_the_hard_one() {
        let before = open_files();
        let low =
            Rlimit { current: Some(before.soft.min(256)), maximum: getrlimit(Resource::Nofile).maximum };
        setrlimit(Resource::Nofile, low).expect("lowering is always allowed");
        assert_eq!(raise_open_files().expect("up to the hard limit"), before.hard);
        assert_eq!(open_files(), OpenFiles { soft: before.hard, hard: before.hard });
    }
}
