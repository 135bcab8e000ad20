//! iperf3 flags that have no effect in plumb or are not supported, and what to use instead.
//!
//! They are listed in docs/guide/client-server.md.

use clap::Args;

use std::path::PathBuf;

use sys::output_file;

use crate::output;

/// Flags of the client and the server that are only accepted so that iperf3 command lines work unchanged.
#[derive(Debug, Args)]
pub(crate) struct Ignored {
    #[arg(short = 'V', long, hide = true)]
    verbose: bool,
    #[arg(short, long, hide = true, value_name = "UNIT")]
    format: Option<String>,
    #[arg(short, long, hide = true, value_name = "LEVEL", num_args = 0..=1, require_equals = true)]
    debug: Option<Option<u8>>,
    #[arg(long, hide = true)]
    forceflush: bool,
    #[arg(long, hide = true)]
    repeating_payload: bool,
    #[arg(long, hide = true, value_name = "TIME")]
    pacing_timer: Option<String>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct LogFile {
    /// Append the output to this file
    #[arg(long, value_name = "FILE")]
    logfile: Option<PathBuf>,
}

impl LogFile {
    pub(crate) fn redirect(&self) -> sys::Result<()> {
        self.logfile.as_deref().map_or(Ok(()), output_file::append_stdout)
    }
}

impl Ignored {
    pub(crate) fn note(&self) {
        let reasons = [
            (self.verbose, "-V", "the summary has all details"),
            (self.format.is_some(), "-f", "units are chosen automatically"),
            (
                self.debug.is_some(),
                "-d",
                "plumb has no debug output (iperf 2's bidirectional test is --bidir)",
            ),
            (self.forceflush, "--forceflush", "every line is flushed immediately"),
            (self.repeating_payload, "--repeating-payload", "the payload is never random"),
            (self.pacing_timer.is_some(), "--pacing-timer", "each write has its own deadline"),
        ];
        for (_, flag, reason) in reasons.iter().filter(|(given, ..)| *given) {
            output::aside(format!("note: {flag} has no effect: {reason}"));
        }
    }
}

struct Missing {
    names: &'static [&'static str],
    instead: &'static str,
}

/// Covers iperf3 3.1 to 3.21 and common flags of iperf 2.
#[rustfmt::skip]
const MISSING: &[Missing] = &[
    Missing { names: &["-c", "--client"], instead: "use the client subcommand: plumb client HOST" },
    Missing { names: &["-s", "--server"], instead: "use the server subcommand: plumb server" },
    Missing { names: &["-v", "--version"], instead: "use plumb --version" },
    Missing { names: &["-F", "--file"], instead: "plumb does not send files, because disk speed would \
        affect the result" },
    Missing { names: &["--timestamps"], instead: "times are relative to the start, which the `plumb` \
        object of --json contains; or pipe the output through ts" },
    Missing { names: &["--json-stream", "--json-stream-full-output"], instead: "--json prints one document \
        at the end, with all intervals" },
    Missing { names: &["-D", "--daemon"], instead: "run it in the background, or as a service: plumb \
        server &" },
    Missing { names: &["-I", "--pidfile"], instead: "use the shell: plumb server & echo $! > FILE" },
    Missing { names: &["-L", "--flowlabel"], instead: "plumb does not set IPv6 flow labels" },
    Missing { names: &["-X", "--xbind"], instead: "plumb has no SCTP; -B ADDRESS binds TCP and UDP" },
    Missing { names: &["--sctp", "--nstreams"], instead: "plumb supports TCP and UDP, not SCTP" },
    Missing { names: &["-m", "--mptcp"], instead: "plumb does not support Multipath TCP" },
    Missing { names: &["--fq-rate", "--no-fq-socket-pacing"], instead: "plumb paces in user space: -b \
        RATE; the result includes the sender's lateness" },
    Missing { names: &["--dont-fragment"], instead: "datagrams fit the path MTU unless -l is larger" },
    Missing { names: &["--skip-rx-copy"], instead: "--mode limit sends and receives without copying" },
    Missing { names: &["--gsro", "--no-gsro"], instead: "--mode limit sends and receives many datagrams \
        per call" },
    Missing { names: &["--rcv-timeout", "--snd-timeout"], instead: "a test without traffic ends after 30 s" },
    Missing { names: &["--cntl-ka"], instead: "the control connection needs no keepalives" },
    Missing { names: &["--bind-dev"], instead: "bind to an address of the device: -B ADDRESS" },
    Missing { names: &["--server-max-duration"], instead: "use --max-duration SECONDS" },
    Missing { names: &["--reportexclude", "-e", "--enhanced"], instead: "this is an iperf 2 flag; plumb \
        implements iperf3's protocol" },
];

pub(crate) fn instead(flag: &str) -> Option<String> {
    let found = MISSING.iter().find(|missing| missing.names.contains(&flag))?;
    Some(format!("iperf3's {flag} is not supported; {}", found.instead))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GUIDE: &str = include_str!("../../../../docs/guide/client-server.md");

    #[test]
    fn suggests_alternative_for_missing_flag() {
        for (flag, word) in [("-v", "plumb --version"), ("-X", "-B"), ("--json-stream", "--json")] {
            let answer = instead(flag).expect(flag);
            assert!(answer.contains(flag) && answer.contains(word), "{answer}");
        }
        assert_eq!(instead("--nonsense"), None);
    }

    #[test]
    fn lists_each_missing_flag_once_and_in_guide() {
        let all: Vec<&str> = MISSING.iter().flat_map(|missing| missing.names).copied().collect();
        for flag in &all {
            assert_eq!(all.iter().filter(|other| other == &flag).count(), 1, "{flag}");
            let listed = GUIDE.split(|c: char| c == '`' || c.is_whitespace()).any(|word| word == *flag);
            assert!(listed, "{flag} is not in the guide");
        }
    }
}
