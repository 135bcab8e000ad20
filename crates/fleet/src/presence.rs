//! Measurements that are under way on a machine, told to each other. They share its CPUs, which nobody reserves: it excludes
//! none. Must not know what is measured.

use std::{io, os::unix::net::UnixDatagram};

use crate::abstract_name;

/// Before what the measurement is called.
const PREFIX: &str = "plumb/run";

/// A measurement that others are told of. Dropping it ends that.
#[derive(Debug)]
pub struct Presence {
    _told: UnixDatagram,
}

impl Presence {
    /// Tells others in the network namespace of this process of the measurement `name`.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn announce(name: &str) -> io::Result<Self> {
        Ok(Self { _told: abstract_name::tell(PREFIX, name)? })
    }

    /// The others that are under way, beside the measurement `name`.
    #[must_use]
    pub fn beside(name: &str) -> Vec<String> {
        let own = format!("{name} ");
        abstract_name::told(PREFIX).into_iter().filter(|other| !other.starts_with(&own)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measurements_see_each_other_and_not_themselves() {
        let [one, two] = ["one", "two"].map(|name| format!("test-{}-{name}", std::process::id()));
        let sees = |own: &str, other: &str| {
            let other = format!("{other} (process {})", std::process::id());
            Presence::beside(own).contains(&other)
        };
        let first = Presence::announce(&one).expect("a socket");
        let _second = Presence::announce(&two).expect("a socket");
        assert!(sees(&one, &two) && sees(&two, &one) && !sees(&one, &one));
        drop(first);
        assert!(!sees(&two, &one) && sees(&one, &two));
    }
}
