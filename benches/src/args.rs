//! The benches' command line.

use std::time::Duration;

use clap::{Parser, builder::PossibleValuesParser};

use crate::{
    bench::{BENCHES, Bench},
    memory,
    rounds::{self, Bounds},
};

const ON_REQUEST: &str = memory::BENCH.name;

/// Compare plumb with its peers, side by side.
#[derive(Debug, Parser)]
#[command(name = "benches")]
pub(crate) struct Args {
    /// Print JSON instead of the table
    #[arg(long)]
    pub(crate) json: bool,

    /// Run only this bench; may be repeated
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(BENCHES.iter().map(|bench| bench.name)))]
    only: Vec<String>,

    /// Rounds of each bench; every contender runs once per round
    #[arg(long, default_value_t = 7, value_name = "N")]
    rounds: usize,

    /// Run one end of a load (used by the parent process)
    #[arg(long, hide = true, value_name = "ORDER")]
    pub(crate) end: Option<String>,

    /// Start no new round of a bench after this many seconds
    #[arg(long, default_value_t = 120, value_name = "N")]
    seconds: u64,
}

impl Args {
    pub(crate) fn benches(&self) -> impl Iterator<Item = &'static Bench> {
        let selected = |bench: &&Bench| {
            if self.only.is_empty() {
                bench.name != ON_REQUEST
            } else {
                self.only.iter().any(|name| name == bench.name)
            }
        };
        BENCHES.iter().filter(selected)
    }

    pub(crate) const fn bounds(&self) -> Bounds {
        Bounds { rounds: self.rounds, time: Duration::from_secs(self.seconds), report: rounds::on_stderr }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_unknown_bench_and_lists_known_ones() {
        let error = Args::try_parse_from(["benches", "--only", "nothing"]).unwrap_err().to_string();
        assert!(BENCHES.iter().all(|bench| error.contains(bench.name)), "{error}");
    }

    #[test]
    fn runs_all_short_benches_by_default() {
        let all = Args::try_parse_from(["benches"]).unwrap();
        assert_eq!(all.benches().count(), BENCHES.len() - 1);
        let one = Args::try_parse_from(["benches", "--only", "memory"]).unwrap();
        assert_eq!(one.benches().map(|bench| bench.name).collect::<Vec<_>>(), ["memory"]);
    }
}
