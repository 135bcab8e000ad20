//! Drops privileges once the server is listening.
//!
//! A forbidden system call ends the server with a message, because a mere error code would only show up as slightly
//! worse measurements.

use std::{fmt, path::Path};

use sys::confine::{self, Call, Landlock, User, calls};
use traffic::{Error, Result};

use crate::port_holder;

const DENIED: &str = "plumb server exited because of a system call not in its filter (--unconfined disables the filter; \
                      please report this): number ";

/// Paths needed to read the process's CPU time and the kernel's list of congestion control algorithms.
const READ: [&str; 2] = ["/proc/self", "/proc/sys/net/ipv4"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confinement {
    user: Option<User>,
    landlock: Landlock,
}

impl fmt::Display for Confinement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.user {
            Some(user) => write!(f, "as {user}")?,
            None => f.write_str("as the user who started it")?,
        }
        write!(f, " without capabilities, under {} and seccomp", self.landlock)
    }
}

/// Defaults to `nobody` if the server was started as root. Switching to another user requires root.
pub(super) fn user(named: Option<&str>) -> Result<Option<User>> {
    let refused = |value: String, allowed| Error::Setting { setting: "user", value, allowed };
    let known = |name: &str| User::named(name).map_err(|_| refused(name.to_owned(), "a user in /etc/passwd"));
    match named.map(known).transpose()? {
        Some(user) if !confine::is_root() => {
            Err(refused(user.to_string(), "none, or start the server as root"))
        }
        Some(user) if !confine::is_mapped(&user)? => {
            Err(refused(user.to_string(), "a user that this user namespace maps"))
        }
        Some(user) => Ok(Some(user)),
        // In a user namespace that maps a single user, root has no other user to switch to.
        None => Ok(Some(User::nobody()).filter(|nobody| {
            confine::is_root() && confine::is_mapped(nobody).is_ok_and(|is_mapped| is_mapped)
        })),
    }
}

pub(super) fn confine(user: Option<User>) -> Result<Confinement> {
    if !confine::is_single_threaded()? {
        let (setting, value) = ("the number of threads before confinement", "several".to_owned());
        return Err(Error::Setting { setting, value, allowed: "one" });
    }
    confine::drop_bounds();
    if let Some(user) = &user {
        confine::become_user(user)?;
    }
    confine::keep_capabilities(false)?;
    let landlock = confine::restrict_files(&READ.map(Path::new))?;
    confine::filter_calls(SERVER, DENIED)?;
    Ok(Confinement { user, landlock })
}

#[must_use]
pub fn allowed_calls() -> Vec<Call> {
    [SERVER, port_holder::CALLS].concat().concat()
}

const SERVER: &[&[Call]] = &[
    calls::DESCRIPTORS,
    calls::SOCKETS,
    calls::POLLING,
    calls::TIME,
    calls::MEMORY,
    calls::THREADS,
    calls::OWN,
    calls::SIGNALS,
    calls::FILES,
    calls::PIPES,
    calls::MACHINE,
    calls::RARE,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displays_dropped_privileges() {
        let confinement = Confinement { user: Some(User::nobody()), landlock: Landlock::Absent };
        let text = confinement.to_string();
        assert!(text.starts_with("as nobody without capabilities") && text.contains("no Landlock"), "{text}");
        let confinement = Confinement { user: None, landlock: Landlock::Version(7) };
        let text = confinement.to_string();
        assert!(
            text.contains("as the user who started it") && text.ends_with("Landlock 7 and seccomp"),
            "{text}"
        );
    }

    #[test]
    fn rejects_unknown_user() {
        let error = user(Some("no-such-user")).expect_err("unknown user").to_string();
        assert!(error.contains("no-such-user"), "{error}");
    }
}
