//! iperf3 flags that plumb ignores or does not support, and the flags to use instead.

use clap::Args;

use std::path::PathBuf;

use sys::output_file;

use crate::output;

/// Client and server flags that plumb accepts and ignores, so that iperf3 command lines work unchanged.
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

/// Unsupported flags and their replacements, for iperf3 3.1 to 3.21 and for common flags of iperf 2.
const MISSING: &str = include_str!("iperf3_flags.txt");

pub(crate) fn instead(flag: &str) -> Option<String> {
    let (_, instead) = missing().find(|(names, _)| names.split(' ').any(|name| name == flag))?;
    Some(format!("iperf3's {flag} is not supported; {instead}"))
}

fn missing() -> impl Iterator<Item = (&'static str, &'static str)> {
    MISSING.lines().filter_map(|row| row.split_once(": "))
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
        let all: Vec<&str> = missing().flat_map(|(names, _)| names.split(' ')).collect();
        assert!(all.len() > MISSING.lines().count());
        for flag in &all {
            assert_eq!(all.iter().filter(|other| other == &flag).count(), 1, "{flag}");
            let listed = GUIDE.split(|c: char| c == '`' || c.is_whitespace()).any(|word| word == *flag);
            assert!(listed, "{flag} is not in the guide");
        }
    }
}
