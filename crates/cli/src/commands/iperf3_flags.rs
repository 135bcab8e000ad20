//! Flags of iperf3 that plumb does not have: what each is for, and what to use instead.
//!
//! docs/guide/client-server.md lists them. Must not know what plumb's own flags do.

/// A flag that plumb's client or server does not have.
struct Missing {
    /// As it is typed, short or long.
    names: &'static [&'static str],
    /// What iperf3 does with it, and what to do here.
    instead: &'static str,
}

/// Every one, of iperf3 3.1 to 3.21 and of iperf 2's habits.
#[rustfmt::skip]
const MISSING: &[Missing] = &[
    Missing { names: &["-c", "--client"], instead: "the host has no flag: plumb client HOST" },
    Missing { names: &["-s", "--server"], instead: "a server is a subcommand: plumb server" },
    Missing { names: &["-V", "--verbose"], instead: "the closing summary says all that is known; --json has every detail (plumb --version prints the version)" },
    Missing { names: &["-v", "--version"], instead: "plumb --version prints the version" },
    Missing { names: &["-f", "--format"], instead: "units are chosen by size; --json has plain bits per second" },
    Missing { names: &["-d", "--debug"], instead: "plumb has no debug output; in iperf 2 it meant both directions, which is --bidir" },
    Missing { names: &["-F", "--file"], instead: "plumb sends bytes of its own, never a file's: disks would be part of the number" },
    Missing { names: &["--logfile"], instead: "redirect what is printed: plumb ... > FILE" },
    Missing { names: &["--forceflush"], instead: "every line is written at once" },
    Missing { names: &["--timestamps"], instead: "lines count from the start, which the object `plumb` of --json dates; or pipe them through ts" },
    Missing { names: &["--json-stream", "--json-stream-full-output"], instead: "--json prints one document at the end, with every interval" },
    Missing { names: &["-D", "--daemon"], instead: "start it in the background, or as a service: plumb server &" },
    Missing { names: &["-I", "--pidfile"], instead: "whoever starts the server knows its process: plumb server & echo $! > FILE" },
    Missing { names: &["-L", "--flowlabel"], instead: "plumb sets no flow label of IPv6" },
    Missing { names: &["-X", "--xbind"], instead: "plumb has no SCTP; -B ADDRESS binds TCP and UDP" },
    Missing { names: &["--sctp", "--nstreams"], instead: "plumb has TCP and UDP, not SCTP" },
    Missing { names: &["-m", "--mptcp"], instead: "plumb has no Multipath TCP" },
    Missing { names: &["--fq-rate", "--no-fq-socket-pacing"], instead: "plumb paces by its own clock: -b RATE, with the sender's lateness in the result" },
    Missing { names: &["--pacing-timer"], instead: "every write has its own time: -b RATE, or RATE/N for N at a time" },
    Missing { names: &["--dont-fragment"], instead: "datagrams fit the path's MTU unless -l says otherwise" },
    Missing { names: &["--repeating-payload"], instead: "plumb's payload is not random, so there is nothing to switch off" },
    Missing { names: &["--skip-rx-copy"], instead: "--mode limit receives without copying, and sends so" },
    Missing { names: &["--gsro", "--no-gsro"], instead: "--mode limit hands over and takes many datagrams at once" },
    Missing { names: &["--rcv-timeout", "--snd-timeout"], instead: "a path on which nothing moves for 30 s ends the test by itself" },
    Missing { names: &["--cntl-ka"], instead: "the control connection needs no keep-alive" },
    Missing { names: &["--bind-dev"], instead: "bind to an address of the device: -B ADDRESS" },
    Missing { names: &["--server-max-duration"], instead: "--max-duration SECONDS" },
    Missing { names: &["--reportexclude", "-e", "--enhanced"], instead: "that is iperf 2's; plumb speaks iperf3's protocol" },
];

/// What to say of a flag that nobody knows; `None` when iperf3 does not have it either.
pub(crate) fn instead(flag: &str) -> Option<String> {
    let found = MISSING.iter().find(|missing| missing.names.contains(&flag))?;
    Some(format!("{flag} is iperf3's, and plumb does not have it: {}", found.instead))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GUIDE: &str = include_str!("../../../../docs/guide/client-server.md");

    #[test]
    fn a_flag_is_answered_with_what_to_use_instead() {
        for (flag, word) in [("-V", "--json"), ("-f", "--json"), ("-d", "--bidir"), ("--logfile", "> FILE")] {
            let said = instead(flag).expect(flag);
            assert!(said.starts_with(flag) && said.contains(word), "{said}");
        }
        assert_eq!(instead("--nonsense"), None);
    }

    #[test]
    fn each_is_named_once_and_listed_in_the_guide() {
        let all: Vec<&str> = MISSING.iter().flat_map(|missing| missing.names).copied().collect();
        for flag in &all {
            assert_eq!(all.iter().filter(|other| other == &flag).count(), 1, "{flag}");
            let listed = GUIDE.split(|c: char| c == '`' || c.is_whitespace()).any(|word| word == *flag);
            assert!(listed, "{flag} is not in the guide");
        }
    }
}
