//! Compares the rebalancer with other policies on 1,000 simulated VMs. Arguments: `seed=N` (default: seeds 21 to 25)
//! and part of a scenario's name.
#![expect(clippy::disallowed_macros, reason = "prints tables")]

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

const SEEDS: std::ops::RangeInclusive<u64> = 21..=25;

struct Shown {
    name: &'static str,
    outcomes: Vec<Vec<Outcome>>,
}

fn main() -> ExitCode {
    let (mut seeds, mut only): (Vec<u64>, String) = (SEEDS.collect(), String::new());
    for label in std::env::args().skip(1) {
        match label.split_once('=').map(|(key, number)| (key, number.parse())) {
            Some(("seed", Ok(seed))) => seeds = vec![seed],
            None => only = label,
            Some(_) => {
                eprintln!("rebalancing: seed=N requires an integer");
                return ExitCode::FAILURE;
            }
        }
    }
    println!("1,000 VMs, 300 intervals, the first {} not counted; seeds {seeds:?}.", run::SETTLED);
    println!("Means across the seeds, ± half the range.\n");
    let wanted = scenario::ALL.iter().filter(|scenario| scenario.name.contains(&only));
    let shown: Vec<Shown> = wanted.map(|scenario| simulated(scenario, &seeds)).collect();
    compared("VM-intervals on target, %", &shown, |outcome| 100.0 * outcome.on_target);
    compared("Mean shortfall, % of the target", &shown, |outcome| 100.0 * outcome.shortfall);
    compared("Direction reversals per VM", &shown, |outcome| outcome.reversals as f64 / 1000.0);
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

#[expect(clippy::disallowed_methods, reason = "times decisions")]
fn clock() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}

fn label(rival: Rival) -> &'static str {
    match rival {
        Rival::Optimum => "optimum",
        Rival::HotBytes => "hot bytes",
        Rival::Pressure => "pressure",
        Rival::Proportional => "by memory",
        Rival::Equal => "equal",
    }
}

fn compared(title: &str, shown: &[Shown], of: fn(&Outcome) -> f64) {
    println!("{title}:\n");
    print!("{:<16}{:>10}", "", "ours");
    Rival::ALL.iter().for_each(|rival| print!("{:>10}", label(*rival)));
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

fn own(shown: &[Shown]) {
    println!("This policy, sums across the seeds:\n");
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
