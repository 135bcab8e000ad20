//! `make stats`: checks all claims about methods on 1,000 data sets each and prints a table. Exits with 0 if all claims
//! hold. Arguments: `seed=N`, `sets=N`, and a substring of the method names. The argument `nights` instead prints the
//! series that `make stats PEERS=1` passes to Apache Otava.
#![expect(clippy::disallowed_macros, reason = "this program prints tables")]

#[path = "../tests/simulations/alarms.rs"]
mod alarms;
#[path = "../tests/simulations/case.rs"]
mod case;
#[path = "../tests/simulations/coverage.rs"]
mod coverage;
#[path = "../tests/simulations/draws.rs"]
mod draws;
#[path = "../tests/simulations/guarded.rs"]
mod guarded;
#[path = "../tests/simulations/judgements.rs"]
mod judgements;
#[path = "../tests/simulations/kinds.rs"]
mod kinds;
#[path = "../tests/simulations/nights.rs"]
mod nights;
#[path = "../tests/simulations/peers.rs"]
mod peers;
#[path = "../tests/simulations/places.rs"]
mod places;
#[path = "../tests/simulations/resampled.rs"]
mod resampled;
#[path = "../tests/simulations/runs.rs"]
mod runs;
#[path = "../tests/simulations/steps.rs"]
mod steps;

use std::process::ExitCode;

use case::{Case, Shown};

const ERRORS: f64 = 3.0;

struct Request {
    seed: u64,
    sets: usize,
    only: String,
}

fn main() -> ExitCode {
    let Some(request) = request() else {
        eprintln!("simulations: seed=N and sets=N take whole numbers, sets at least 1");
        return ExitCode::FAILURE;
    };
    if request.only == "nights" {
        print!("{}", peers::nights(request.sets, request.seed));
        return ExitCode::SUCCESS;
    }
    let simulated = |cases: Vec<Case>| -> Vec<(Case, Shown)> {
        let wanted = cases.into_iter().filter(|case| case.method.contains(&request.only));
        wanted.map(|case| (request.run(&case), case)).map(|(shown, case)| (case, shown)).collect()
    };
    println!("Seed {}.\n", request.seed);
    let intervals = simulated(coverage::cases());
    let others: Vec<Case> = [
        alarms::cases(),
        steps::cases(),
        runs::cases(),
        places::cases(),
        resampled::cases(),
        judgements::cases(),
        kinds::cases(),
        guarded::cases(),
        nights::cases(),
        peers::cases(),
    ]
    .into_iter()
    .flatten()
    .collect();
    let others = simulated(others);
    let all = || intervals.iter().chain(&others);
    let refuted = request.claims(all());
    request.figures(all());
    missed(&intervals);
    println!("\n{refuted} refuted");
    if refuted == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn request() -> Option<Request> {
    let mut request = Request { seed: case::SEED, sets: 1000, only: String::new() };
    for word in std::env::args().skip(1) {
        match word.split_once('=') {
            Some(("seed", number)) => request.seed = number.parse().ok()?,
            Some(("sets", number)) => request.sets = number.parse().ok().filter(|sets| *sets > 0)?,
            _ => request.only = word,
        }
    }
    Some(request)
}

impl Request {
    fn run(&self, case: &Case) -> Shown {
        case.run(self.sets, self.seed)
    }

    fn fits(&self, (case, shown): &(Case, Shown)) -> bool {
        case.fits(shown, self.sets, ERRORS)
    }

    fn claims<'a>(&self, cases: impl Iterator<Item = &'a (Case, Shown)> + Clone) -> usize {
        println!("| method | data | claim | found of {} | |\n| --- | --- | --- | --- | --- |", self.sets);
        for row in cases.clone() {
            let (case, shown) = row;
            let Some((least, most)) = case.claim else { continue };
            let verdict = if self.fits(row) { "" } else { "REFUTED" };
            let claim = format!("{:.1} to {:.1} %", 100.0 * least, 100.0 * most);
            println!("| {} | {} | {claim} | {} | {verdict} |", case.method, case.data, found(shown));
        }
        cases.filter(|row| !self.fits(row)).count()
    }

    fn figures<'a>(&self, cases: impl Iterator<Item = &'a (Case, Shown)>) {
        println!(
            "\n| figure that is not a claim | data | found of {} | |\n| --- | --- | --- | --- |",
            self.sets
        );
        for row in cases.filter(|(case, _)| case.claim.is_none()) {
            let (case, shown) = row;
            let verdict = if self.fits(row) { "" } else { "RARELY HAS A RESULT" };
            println!("| {} | {} | {} | {verdict} |", case.method, case.data, found(shown));
        }
    }
}

fn missed(intervals: &[(Case, Shown)]) {
    let (least, most) = coverage::ASKED;
    println!("\n95 % intervals outside {:.0} to {:.0} %:\n", 100.0 * least, 100.0 * most);
    for (case, shown) in intervals.iter().filter(|(_, shown)| !(least..=most).contains(&shown.share)) {
        println!("- {}, {}: {}", case.method, case.data, found(shown));
    }
}

fn found(shown: &Shown) -> String {
    let share = format!("{:.1} %", 100.0 * shown.share);
    let unanswered = 100.0 * (1.0 - shown.answered);
    if unanswered > 0.0 { format!("{share} ({unanswered:.1} % without an answer)") } else { share }
}
