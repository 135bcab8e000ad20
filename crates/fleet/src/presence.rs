//! Lets measurements on the same machine detect that they share its CPUs. The measurements may still run at the same
//! time.

use std::{io, os::unix::net::UnixDatagram};

use crate::abstract_name;

const PREFIX: &str = "plumb/run";

#[derive(Debug)]
pub struct Presence {
    _holder: UnixDatagram,
}

impl Presence {
    /// Announces this measurement in this process's network namespace until the value is dropped.
    pub fn announce(name: &str) -> io::Result<Self> {
        Ok(Self { _holder: abstract_name::announce(PREFIX, name)? })
    }

    #[must_use]
    pub fn others(name: &str) -> Vec<String> {
        let own = format!("{name} ");
        abstract_name::holders(PREFIX).into_iter().filter(|other| !other.starts_with(&own)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measurements_see_only_others() {
        let [one, two] = ["one", "two"].map(|name| format!("test-{}-{name}", std::process::id()));
        let sees = |own: &str, other: &str| {
            let other = format!("{other} (process {})", std::process::id());
            Presence::others(own).contains(&other)
        };
        let first = Presence::announce(&one).expect("a socket");
        let _second = Presence::announce(&two).expect("a socket");
        assert!(sees(&one, &two) && sees(&two, &one) && !sees(&one, &one));
        drop(first);
        assert!(!sees(&two, &one) && sees(&one, &two));
    }
}
