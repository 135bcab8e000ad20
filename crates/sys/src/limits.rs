//! Resource limits of the process.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::error::{Context, Result};

/// Raises the limit on open files and returns the hard limit. `u64::MAX` means unlimited.
pub fn raise_open_files() -> Result<u64> {
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })
        .named("raise limit of", || "open files")?;
    Ok(getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX))
}

/// Removes the limit on locked memory for root. For other users, raises it to the hard limit.
pub fn raise_locked_memory() -> Result<()> {
    let maximum = getrlimit(Resource::Memlock).maximum;
    let raise = |maximum| setrlimit(Resource::Memlock, Rlimit { current: maximum, maximum });
    raise(None).or_else(|_| raise(maximum)).named("raise limit of", || "locked memory")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raises_soft_limit_to_hard_limit() {
        let before = getrlimit(Resource::Nofile);
        let low = Rlimit { current: Some(before.current.map_or(256, |soft| soft.min(256))), ..before };
        setrlimit(Resource::Nofile, low).expect("lowering is always allowed");
        assert_eq!(raise_open_files().expect("up to the hard limit"), before.maximum.unwrap_or(u64::MAX));
        let after = getrlimit(Resource::Nofile);
        assert_eq!((after.current, after.maximum), (before.maximum, before.maximum));
    }
}
