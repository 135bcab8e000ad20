//! The rebalancer beside other policies on 1,000 simulated VMs, as tables. Arguments: `seed=N` (only that one; seeds 21 to
//! 25 otherwise) and a part of the scenarios' names.
#![expect(clippy::disallowed_macros, reason = "the tables are what this program is for")]

#[path = "../tests/simulation/host.rs"]
mod host;
#[path = "../tests/simulation/load.rs"]
mod load;
#[path = "../tests/simulation/rivals.rs"]
mod rivals;
#[path = "../tests/simulation/run.rs"]
mod run;
#[path = "../tests/simulation/scenario.rs"]
mod scenario;

use std::{process::ExitCode, time::Duration};

use host::Host;
use rivals::Rival;
use run::Outcome;
use scenario::Scenario;

/// None of these was looked at while the policy and its constants were chosen.
const SEEDS: std::ops::RangeInclusive<u64> = 21..=25;

/// One scenario: outcomes of each seed, ours first, then the rivals in their order.
struct Shown {
    name: &'static str,
    outcomes: Vec<Vec<Outcome>>,
}

fn main() -> ExitCode {
    let (mut seeds, mut only): (Vec<u64>, String) = (SEEDS.collect(), String::new());
    for word in std::env::args().skip(1) {
        match word.split_once('=').map(|(key, number)| (key, number.parse())) {
            Some(("seed", Ok(seed))) => seeds = vec![seed],
            None => only = word,
            Some(_) => {
                eprintln!("rebalancing: seed=N takes a whole number");
                return ExitCode::FAILURE;
            }
        }
    }
    println!("1,000 VMs, 300 intervals, the first {} not counted; seeds {seeds:?}.", run::SETTLED);
    println!("Means over the seeds, and half the range.\n");
    let wanted = scenario::ALL.iter().filter(|scenario| scenario.name.contains(&only));
    let shown: Vec<Shown> = wanted.map(|scenario| simulated(scenario, &seeds)).collect();
    compared("VM-intervals on target, %", &shown, |outcome| 100.0 * outcome.on_target);
    compared("Mean shortfall, % of the target", &shown, |outcome| 100.0 * outcome.shortfall);
    compared("Reversals of direction a VM", &shown, |outcome| outcome.reversals as f64 / 1000.0);
    own(&shown);
    ExitCode::SUCCESS
}

fn simulated(scenario: &Scenario, seeds: &[u64]) -> Shown {
    let outcomes = seeds.iter().map(|seed| {
        let host = Host::draw(scenario, *seed);
        let theirs = Rival::ALL.iter().map(|rival| run::theirs(&host, scenario.intervals, *rival));
        std::iter::once(run::ours(&host, scenario.intervals, clock)).chain(theirs).collect()
    });
    Shown { name: scenario.name, outcomes: outcomes.collect() }
}

#[expect(clippy::disallowed_methods, reason = "decisions are timed, not made by the clock")]
fn clock() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}

fn word(rival: Rival) -> &'static str {
    match rival {
        Rival::Optimum => "optimum",
        Rival::HotBytes => "hot bytes",
        Rival::Pressure => "pressure",
        Rival::Proportional => "by memory",
        Rival::Equal => "equal",
    }
}

/// A table of all policies.
fn compared(title: &str, shown: &[Shown], of: fn(&Outcome) -> f64) {
    println!("{title}:\n");
    print!("{:<16}{:>10}", "", "ours");
    Rival::ALL.iter().for_each(|rival| print!("{:>10}", word(*rival)));
    println!();
    for scenario in shown {
        print!("{:<16}", scenario.name);
        for policy in 0..=Rival::ALL.len() {
            let values: Vec<f64> = scenario.outcomes.iter().map(|seed| of(&seed[policy])).collect();
            print!("{:>10}", spread(&values));
        }
        println!();
    }
    println!();
}

fn spread(values: &[f64]) -> String {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let (least, most) = values
        .iter()
        .fold((f64::MAX, f64::MIN), |(least, most), value| (least.min(*value), most.max(*value)));
    let digits = usize::from(mean < 99.95) + usize::from(mean < 9.995);
    format!("{mean:.digits$}\u{b1}{:.1}", (most - least) / 2.0)
}

/// What only ours has.
fn own(shown: &[Shown]) {
    println!("This policy, sums over the seeds:\n");
    println!("{:<16}{:>12}{:>12}{:>16}{:>16}", "", "moves", "reversals", "median decision", "longest");
    for scenario in shown {
        let ours = || scenario.outcomes.iter().map(|seed| &seed[0]);
        let (moves, turns) = ours().fold((0, 0), |sum, one| (sum.0 + one.moves, sum.1 + one.reversals));
        let median = ours().map(Outcome::median_time).max().unwrap_or_default();
        let longest = ours().flat_map(|one| &one.times).max().copied().unwrap_or_default();
        let ms = |time: Duration| format!("{:.1} ms", 1e3 * time.as_secs_f64());
        println!("{:<16}{moves:>12}{turns:>12}{:>16}{:>16}", scenario.name, ms(median), ms(longest));
    }
}
