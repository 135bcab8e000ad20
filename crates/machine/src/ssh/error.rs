//! Why no agent could be started over SSH: what `ssh` said, made into what to do. Must not know how it is run.

use thiserror::Error;

/// What `ssh` exits with when it failed itself (ssh(1)).
const OWN_FAILURE: i32 = 255;

/// No agent on a host that is reached by SSH.
#[derive(Debug, Error)]
pub enum SshError {
    #[error("no SSH client was started: {0}; install one with `apt-get install openssh-client`")]
    NoClient(#[source] sys::Error),
    #[error(
        "its host key is not known; log in once by `ssh` and compare the fingerprint, or add the key to known_hosts"
    )]
    UnknownHostKey,
    #[error(
        "its host key is not the one that is known: another machine has this address, or the host was installed anew; \
         if you know why, remove the old key with `ssh-keygen -R`"
    )]
    OtherHostKey,
    #[error(
        "it let no key of yours in ({said}); `ssh-add -l` lists those of the SSH agent, and the host's \
         ~/.ssh/authorized_keys those that it takes"
    )]
    NotPermitted {
        /// The last line of `ssh`.
        said: String,
    },
    #[error("there is no host of that name ({said}); write it as ssh_config or the name service knows it")]
    NoSuchHost {
        /// The last line of `ssh`.
        said: String,
    },
    #[error(
        "it cannot be reached ({said}); is the host up, its SSH server running, and no firewall between?"
    )]
    Unreachable {
        /// The last line of `ssh`.
        said: String,
    },
    #[error(
        "it is {platform}, and its agent would be this program, which is built for Linux {}; start plumb on a machine like it",
        std::env::consts::ARCH
    )]
    OtherPlatform {
        /// As uname tells.
        platform: String,
    },
    #[error("it has no program `{program}`, which plumb needs there; install it (of Debian: coreutils)")]
    Lacks { program: String },
    #[error(
        "cannot keep the agent's program there: {said}; it needs a private folder `plumb` with some 40 MB in \
         $XDG_CACHE_HOME or ~/.cache"
    )]
    Copy {
        /// The last line of the host.
        said: String,
    },
    #[error(
        "the agent's program was copied there and is gone again; does another program clean its ~/.cache?"
    )]
    NotKept,
    #[error(
        "it sent more than {most} bytes instead of a reply; check the output of its shell's start-up files with `ssh HOST true`"
    )]
    Chatter {
        /// Bytes.
        most: u64,
    },
    #[error(
        "the copy of the agent's program stopped after {copied} of {all} bytes; check the connection and the free space there, \
         and try again"
    )]
    Stalled { copied: usize, all: usize },
    #[error("`ssh` did not get an agent started: {said}")]
    Other {
        /// What `ssh` or the host said.
        said: String,
    },
}

impl SshError {
    /// What a login without an agent came to; `None` is one that took too long.
    pub(super) fn of(status: Option<i32>, said: &str) -> Self {
        let last = last_line(said);
        let any = |words: &[&str]| words.iter().any(|word| said.contains(word));
        match status {
            None => Self::Unreachable { said: "no answer in time".to_owned() },
            Some(OWN_FAILURE) if any(&["REMOTE HOST IDENTIFICATION HAS CHANGED"]) => Self::OtherHostKey,
            Some(OWN_FAILURE) if any(&["Host key verification failed"]) => Self::UnknownHostKey,
            Some(OWN_FAILURE) if any(&["Permission denied", "Too many authentication failures"]) => {
                Self::NotPermitted { said: last }
            }
            Some(OWN_FAILURE) if any(&["Could not resolve hostname"]) => Self::NoSuchHost { said: last },
            Some(OWN_FAILURE)
                if any(&[
                    "No route to host",
                    "unreachable",
                    "refused",
                    "timed out",
                    "closed by",
                    "reset by",
                ]) =>
            {
                Self::Unreachable { said: last }
            }
            Some(status) if last.is_empty() => Self::Other { said: format!("it ended with status {status}") },
            Some(_) => Self::Other { said: last },
        }
    }

    /// What a copy that failed came to.
    pub(super) fn of_copy(status: Option<i32>, said: &str) -> Self {
        match status {
            Some(OWN_FAILURE) | None => Self::of(status, said),
            Some(_) => Self::Copy { said: last_line(said) },
        }
    }
}

fn last_line(said: &str) -> String {
    said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What OpenSSH 9.2 says.
    #[test]
    fn what_ssh_says_becomes_what_to_do() {
        for (status, said, wanted) in [
            (255, "Host key verification failed.", "host key is not known"),
            (
                255,
                "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.",
                "not the one that is known",
            ),
            (255, "u@h: Permission denied (publickey).", "let no key of yours in (u@h: Permission denied"),
            (255, "ssh: Could not resolve hostname h: Name or service not known", "no host of that name"),
            (255, "ssh: connect to host h port 22: No route to host", "cannot be reached"),
            (255, "ssh: connect to host h port 22: Connection refused", "cannot be reached"),
            (255, "Connection closed by 198.18.0.1 port 22", "cannot be reached"),
            (127, "sh: 1: exec: not found", "exec: not found"),
            (1, "", "status 1"),
        ] {
            let error = SshError::of(Some(status), said).to_string();
            assert!(error.contains(wanted), "{said}: {error}");
        }
        assert!(SshError::of(None, "").to_string().contains("no answer in time"));
    }

    #[test]
    fn a_copy_that_fails_says_what_the_host_said() {
        let error = SshError::of_copy(Some(1), "cat: write error: No space left on device\n").to_string();
        assert!(error.contains("No space left on device"), "{error}");
        let lost = SshError::of_copy(Some(255), "client_loop: send disconnect: Broken pipe").to_string();
        assert!(lost.contains("Broken pipe"), "{lost}");
    }
}
