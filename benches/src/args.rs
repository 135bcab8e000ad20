//! What the benches were asked to do. Must not know what a bench is about.

use std::time::Duration;

use clap::{Parser, builder::PossibleValuesParser};

use crate::{
    bench::{BENCHES, Bench},
    rounds::{self, Bounds},
};

/// Compare plumb with its peers, side by side.
#[derive(Debug, Parser)]
#[command(name = "benches")]
pub(crate) struct Args {
    /// Print JSON instead of the table
    #[arg(long)]
    pub(crate) json: bool,

    /// Run only this bench; may be given again
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(BENCHES.iter().map(|bench| bench.name)))]
    only: Vec<String>,

    /// Rounds of each bench; every contender works once in each
    #[arg(long, default_value_t = 7, value_name = "N")]
    rounds: usize,

    /// Be one end of a load, by an order of the process that started this one
    #[arg(long, hide = true, value_name = "ORDER")]
    pub(crate) end: Option<String>,

    /// No round of a bench begins when it has taken this many seconds
    #[arg(long, default_value_t = 120, value_name = "N")]
    seconds: u64,
}

impl Args {
    /// The benches that were asked for: all, unless some are named.
    pub(crate) fn benches(&self) -> impl Iterator<Item = &'static Bench> {
        let asked = |bench: &&Bench| self.only.is_empty() || self.only.iter().any(|name| name == bench.name);
        BENCHES.iter().filter(asked)
    }

    /// The bounds of each bench.
    pub(crate) const fn bounds(&self) -> Bounds {
        Bounds { rounds: self.rounds, time: Duration::from_secs(self.seconds), tell: rounds::on_stderr }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bench_that_does_not_exist_is_refused_and_the_known_ones_are_named() {
        let error = Args::try_parse_from(["benches", "--only", "nothing"]).unwrap_err().to_string();
        assert!(BENCHES.iter().all(|bench| error.contains(bench.name)), "{error}");
    }

    #[test]
    fn all_benches_run_unless_some_are_named() {
        let all = Args::try_parse_from(["benches"]).unwrap();
        assert_eq!(all.benches().count(), BENCHES.len());
        let one = Args::try_parse_from(["benches", "--only", "namespaces"]).unwrap();
        assert_eq!(one.benches().map(|bench| bench.name).collect::<Vec<_>>(), ["namespaces"]);
    }
}
