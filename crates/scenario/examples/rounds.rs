//! Times the scheduling of all pairs of many hosts for docs/methods/rounds.md: `cargo run --release --example
//! rounds`.
#![expect(clippy::disallowed_macros, reason = "prints a table")]
#![expect(clippy::disallowed_methods, reason = "measures itself with the clock and /proc")]

use std::time::{Duration, Instant};

use scenario::{Plan, PlanOptions, Scenario, rounds};

fn main() {
    println!("hosts   pairs    rounds  scheduling");
    for hosts in [6_usize, 25, 100, 301, 1000] {
        let pairs = (0..hosts).flat_map(|one| (one + 1..hosts).map(move |other| [one, other]));
        let ways: Vec<[usize; 2]> = pairs.flat_map(|[one, other]| [[one, other], [other, one]]).collect();
        let start = Instant::now();
        let rounds = rounds(&ways);
        println!("{hosts:<7} {:<8} {:<7} {:.0?}", ways.len() / 2, rounds.len(), start.elapsed());
    }
    println!("\nring of 1000 hosts, and ten other hosts for each");
    for distances in [1..2, 1..6] {
        let ways: Vec<[usize; 2]> =
            (0..1000).flat_map(|one| distances.clone().map(move |step| [one, (one + step) % 1000])).collect();
        let start = Instant::now();
        let rounds = rounds(&ways);
        println!("{:<7} {:<8} {:<7} {:.0?}", 1000, ways.len(), rounds.len(), start.elapsed());
    }
    println!("\nhosts   cells    trials   check   plan    memory    estimated");
    for hosts in [6, 25, 100, 300, 1000] {
        let start = cpu_time();
        let scenario = Scenario::parse("rounds", &text(hosts)).expect("the scenario is valid");
        let checked = cpu_time();
        let plan = Plan::expand(&scenario, 1, &PlanOptions::default());
        let planned = cpu_time();
        let (results, trials) = (plan.results.len(), plan.trials.len());
        let [check, expand] = [checked - start, planned - checked];
        let [memory, estimate] = [memory(), plan.duration_estimate().to_string()];
        println!("{hosts:<7} {results:<8} {trials:<8} {check:<7.1?} {expand:<7.1?} {memory} {estimate}");
    }
}

fn text(hosts: usize) -> String {
    let tables: String = (0..hosts).map(|host| format!("[hosts.h{host}]\nat = \"ssh:h{host}\"\n")).collect();
    format!(
        "schema = 1\nname = \"rounds\"\ntitle = \"Many hosts\"\npairs = \"all\"\n{tables}\n[workloads.bulk]\nkind = \"stream\"\n"
    )
}

fn cpu_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split_whitespace().next().and_then(|number| number.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or_default())
}

fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default().trim().to_owned()
}
