//! `make stats`: every claim about a method, on 1,000 data sets each, as a table; the exit status tells whether all
//! hold. An argument chooses methods by a part of their name. Knows no case.
#![expect(clippy::disallowed_macros, reason = "the table is what this program is for")]

#[path = "../tests/simulations/alarms.rs"]
mod alarms;
#[path = "../tests/simulations/case.rs"]
mod case;
#[path = "../tests/simulations/coverage.rs"]
mod coverage;
#[path = "../tests/simulations/draws.rs"]
mod draws;
#[path = "../tests/simulations/places.rs"]
mod places;
#[path = "../tests/simulations/resampled.rs"]
mod resampled;

use std::process::ExitCode;

/// Data sets a case, unless a second argument says otherwise.
const SETS: usize = 1000;
/// What chance may add to a claim, in standard errors.
const ERRORS: f64 = 3.0;

fn main() -> ExitCode {
    let only = std::env::args().nth(1).unwrap_or_default();
    let sets = std::env::args().nth(2).and_then(|text| text.parse().ok()).unwrap_or(SETS);
    println!("| method | data | allowed | found of {sets} | |");
    println!("| --- | --- | --- | --- | --- |");
    let mut refuted = 0;
    let cases =
        [coverage::cases(), resampled::cases(), alarms::cases(), places::cases()].into_iter().flatten();
    for case in cases.filter(|case| case.method.contains(&only)) {
        let shown = case.run(sets);
        let fits = case.fits(&shown, sets, ERRORS);
        refuted += usize::from(!fits);
        let (least, most) = case.allowed;
        let unanswered = 100.0 * (1.0 - shown.answered);
        let more =
            if unanswered > 0.0 { format!(" ({unanswered:.1} % without an answer)") } else { String::new() };
        println!(
            "| {} | {} | {:.1} to {:.1} % | {:.1} %{more} | {} |",
            case.method,
            case.data,
            100.0 * least,
            100.0 * most,
            100.0 * shown.share,
            if fits { "" } else { "REFUTED" }
        );
    }
    println!("\n{refuted} claims refuted");
    if refuted == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
