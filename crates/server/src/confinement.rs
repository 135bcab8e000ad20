//! What a server can do no more once it listens: it becomes another user, and gives up capabilities, files and system calls.
//!
//! What it needs later is open by then (its listeners), kept by a process beside it (further UDP ports), or in the lists
//! below. A call that is missing there ends the server with a message: it tells of a defect at once, where an error code
//! would surface as a measurement that is a little worse.

use std::{fmt, path::Path};

use sys::confine::{self, Call, Landlock, User, calls};
use traffic::{Error, Result};

use crate::port_holder;

const DENIED: &str = "plumb server made a system call that is not in its filter, and has ended (--unconfined runs it without; \
                      please report this): number ";

/// Files beneath these are read: the CPU time of this process, which congestion controls the kernel has.
const READ: [&str; 2] = ["/proc/self", "/proc/sys/net/ipv4"];

/// What a server has given up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confinement {
    /// Whom it has become; `None` where it stays who it was.
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

/// Whom a server becomes: the user that was named, or nobody where root has started it.
///
/// # Errors
/// When there is no such user, or only root could become it.
pub(super) fn user(named: Option<&str>) -> Result<Option<User>> {
    let refused = |value: String, allowed| Error::Setting { setting: "the user", value, allowed };
    let known =
        |name: &str| User::named(name).map_err(|_| refused(name.to_owned(), "one that is in /etc/passwd"));
    match named.map(known).transpose()? {
        Some(user) if !confine::is_root() => {
            Err(refused(user.to_string(), "only what root may become: leave it out, or start as root"))
        }
        Some(user) if !confine::is_mapped(&user)? => {
            Err(refused(user.to_string(), "one that exists in this user namespace"))
        }
        Some(user) => Ok(Some(user)),
        // In a user namespace of one user there is nobody else to become, and its root is that user outside.
        None => Ok(Some(User::nobody()).filter(|nobody| {
            confine::is_root() && confine::is_mapped(nobody).is_ok_and(|is_mapped| is_mapped)
        })),
    }
}

/// Gives everything up. This process must have a single thread.
pub(super) fn confine(user: Option<User>) -> Result<Confinement> {
    if !confine::is_single_threaded()? {
        let (setting, value) = ("threads before confinement", "several".to_owned());
        return Err(Error::Setting { setting, value, allowed: "one" });
    }
    confine::drop_bounds();
    if let Some(user) = &user {
        confine::become_user(user)?;
    }
    confine::keep_capabilities(false)?;
    confine::forbid_new_privileges()?;
    let landlock = confine::restrict_files(&READ.map(Path::new))?;
    confine::filter_calls(SERVER, DENIED)?;
    Ok(Confinement { user, landlock })
}

/// The calls that a server and the process beside it may make: tests hold that each is made.
#[must_use]
pub fn allowed_calls() -> Vec<Call> {
    [SERVER, port_holder::CALLS].concat().concat()
}

/// What the threads of a server do.
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
    fn what_was_given_up_is_told_in_a_few_words() {
        let confinement = Confinement { user: Some(User::nobody()), landlock: Landlock::Absent };
        let told = confinement.to_string();
        assert!(told.starts_with("as nobody without capabilities") && told.contains("no Landlock"), "{told}");
        let confinement = Confinement { user: None, landlock: Landlock::Version(7) };
        let told = confinement.to_string();
        assert!(
            told.contains("as the user who started it") && told.ends_with("Landlock 7 and seccomp"),
            "{told}"
        );
    }

    #[test]
    fn a_user_that_is_not_there_is_refused() {
        let error = user(Some("no-such-user")).expect_err("not there").to_string();
        assert!(error.contains("no-such-user"), "{error}");
    }
}
