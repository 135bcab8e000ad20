//! Turns error output from `ssh` into advice.

use thiserror::Error;

/// The exit status for errors in `ssh` itself (ssh(1)).
const OWN_FAILURE: i32 = 255;

#[derive(Debug, Error)]
pub enum SshError {
    #[error("cannot start the SSH client: {0}; install it with `apt-get install openssh-client`")]
    NoClient(#[source] sys::Error),
    #[error(
        "its host key is unknown; log in once with `ssh` and compare the fingerprint, or add the key to known_hosts"
    )]
    UnknownHostKey,
    #[error(
        "its host key has changed: another machine has this address, or the host was reinstalled; \
         if this is expected, remove the old key with `ssh-keygen -R`"
    )]
    OtherHostKey,
    #[error(
        "it accepts none of your keys ({reason}); compare `ssh-add -l` with ~/.ssh/authorized_keys on the host"
    )]
    NotPermitted { reason: String },
    #[error("unknown host name ({reason}); check ssh_config and DNS")]
    NoSuchHost { reason: String },
    #[error(
        "cannot reach it ({reason}); check that the host is up, that its SSH server is running and that \
         no firewall blocks it"
    )]
    Unreachable { reason: String },
    #[error(
        "it runs {platform}, but this program, which also serves as the agent, is built for Linux {}; run \
         plumb on a machine of the same platform",
        std::env::consts::ARCH
    )]
    OtherPlatform { platform: String },
    #[error("program `{program}` is missing; install it (Debian package coreutils)")]
    Lacks { program: String },
    #[error(
        "cannot install the agent's program: {reason}; it needs about 40 MB in a private folder `plumb` in \
         $XDG_CACHE_HOME or ~/.cache"
    )]
    Copy { reason: String },
    #[error(
        "the agent's program disappeared after the copy; check whether another program cleans the host's ~/.cache"
    )]
    NotKept,
    #[error(
        "it sent more than {most} bytes instead of a reply; check the output of its shell's start-up files with `ssh HOST true`"
    )]
    Chatter { most: u64 },
    #[error(
        "the copy of the agent's program stopped after {copied} of {all} bytes; check the connection and the host's \
        free disk space, and try again"
    )]
    Stalled { copied: usize, all: usize },
    #[error("`ssh` could not start the agent: {reason}")]
    Other { reason: String },
}

impl SshError {
    pub(super) fn of(status: Option<i32>, output: &str) -> Self {
        let last = last_line(output);
        let any = |words: &[&str]| words.iter().any(|word| output.contains(word));
        match status {
            None => Self::Unreachable { reason: "no answer in time".to_owned() },
            Some(OWN_FAILURE) if any(&["REMOTE HOST IDENTIFICATION HAS CHANGED"]) => Self::OtherHostKey,
            Some(OWN_FAILURE) if any(&["Host key verification failed"]) => Self::UnknownHostKey,
            Some(OWN_FAILURE) if any(&["Permission denied", "Too many authentication failures"]) => {
                Self::NotPermitted { reason: last }
            }
            Some(OWN_FAILURE) if any(&["Could not resolve hostname"]) => Self::NoSuchHost { reason: last },
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
                Self::Unreachable { reason: last }
            }
            Some(status) if last.is_empty() => {
                Self::Other { reason: format!("it exited with status {status}") }
            }
            Some(_) => Self::Other { reason: last },
        }
    }

    pub(super) fn of_copy(status: Option<i32>, output: &str) -> Self {
        match status {
            Some(OWN_FAILURE) | None => Self::of(status, output),
            Some(_) => Self::Copy { reason: last_line(output) },
        }
    }
}

fn last_line(output: &str) -> String {
    output.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The output in these cases is from OpenSSH 9.2.
    #[test]
    fn derives_advice_from_ssh_output() {
        for (status, output, wanted) in [
            (255, "Host key verification failed.", "host key is unknown"),
            (
                255,
                "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.",
                "has changed",
            ),
            (255, "u@h: Permission denied (publickey).", "accepts none of your keys (u@h: Permission denied"),
            (255, "ssh: Could not resolve hostname h: Name or service not known", "unknown host name"),
            (255, "ssh: connect to host h port 22: No route to host", "cannot reach it"),
            (255, "ssh: connect to host h port 22: Connection refused", "cannot reach it"),
            (255, "Connection closed by 198.18.0.1 port 22", "cannot reach it"),
            (127, "sh: 1: exec: not found", "exec: not found"),
            (1, "", "status 1"),
        ] {
            let error = SshError::of(Some(status), output).to_string();
            assert!(error.contains(wanted), "{output}: {error}");
        }
        assert!(SshError::of(None, "").to_string().contains("no answer in time"));
    }

    #[test]
    fn reports_host_output_for_failed_copy() {
        let error = SshError::of_copy(Some(1), "cat: write error: No space left on device\n").to_string();
        assert!(error.contains("No space left on device"), "{error}");
        let lost = SshError::of_copy(Some(255), "client_loop: send disconnect: Broken pipe").to_string();
        assert!(lost.contains("Broken pipe"), "{lost}");
    }
}
