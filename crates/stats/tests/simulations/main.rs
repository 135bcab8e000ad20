//! Checks every claim about a method with fewer data sets than `make stats`.

mod alarms;
mod case;
mod coverage;
mod draws;
mod guarded;
mod judgements;
mod kinds;
mod nights;
mod places;
mod runs;
mod steps;

use case::{Case, SEED, Shown};

const ERRORS: f64 = 3.0;
const FEWEST: usize = 100;

fn sets(case: &Case) -> usize {
    match case.method {
        method if method.starts_with("knee") => FEWEST,
        "unpaired test: p <= 5 %" if case.data.contains("n=40") => FEWEST,
        "level shift: false alarm" | "A/B: any alarm in a sweep" => 200,
        method if method.starts_with("sweep") => 200,
        "paired ratio" | "unpaired ratio" | "A/B: false alarm" => 1000,
        method if method.starts_with("bimodal") || method.starts_with("warm-up") => 1000,
        _ => 400,
    }
}

/// Unoptimised builds use a tenth of the data sets.
const PART: usize = if cfg!(debug_assertions) { 10 } else { 1 };

/// Prefix of claims about a mean width relative to the exact interval.
const WIDTH: &str = "width of";

fn check(cases: &[Case]) {
    let refuted = |case: &Case| {
        let sets = sets(case) / PART;
        let shown = case.run(sets, SEED);
        let text = format!("{}, {}: {} not in {:?}", case.method, case.data, shown.share, case.claim);
        (!case.fits(&shown, sets, ERRORS)).then(|| format!("{text}, {} results", shown.answered))
    };
    // The mean width needs more data sets, as in `make stats`.
    let checked = cases.iter().filter(|case| PART == 1 || !case.method.starts_with(WIDTH));
    let refuted: Vec<String> = checked.filter_map(refuted).collect();
    assert!(refuted.is_empty(), "{refuted:#?}");
}

#[test]
fn simulated_intervals_have_claimed_coverage() {
    check(&coverage::cases());
}

#[test]
fn verdicts_have_claimed_error_rates() {
    check(&alarms::cases());
}

#[test]
fn step_verdicts_hold_with_disturbed_trials() {
    check(&steps::cases());
}

#[test]
fn noise_between_runs_is_estimated_as_claimed() {
    check(&runs::cases());
}

#[test]
fn unequal_scatter_many_results_and_mixtures_are_judged_as_rarely_wrong_as_claimed() {
    check(&judgements::cases());
}

#[test]
fn kinds_of_change_are_named_as_often_as_claimed() {
    check(&kinds::cases());
}

#[test]
fn guarded_metrics_are_judged_as_rarely_wrong_as_they_say() {
    check(&guarded::cases());
}

#[test]
fn histories_are_judged_as_rarely_wrong_as_they_say() {
    check(&nights::cases());
}

#[test]
fn finds_jumps_modes_and_knees_as_often_as_claimed() {
    check(&places::cases());
}

/// Wrong methods raise too many false alarms, cover 80 % instead of 95 %, or seldom return a result.
#[test]
fn wrong_methods_are_refuted() {
    let shown = |share: f64, answered: f64| Shown { share, answered };
    let alarm = Case::new("", "", alarms::FALSE_ALARMS, |_| None);
    let interval = Case::new("", "", coverage::ASKED, |_| None);
    for sets in [FEWEST, 400, 1000] {
        let fits = |case: &Case, shown: Shown| case.fits(&shown, sets, ERRORS);
        assert!(fits(&alarm, shown(0.05, 1.0)) && fits(&interval, shown(0.95, 1.0)));
        assert!(!fits(&alarm, shown(0.16, 1.0)) && !fits(&interval, shown(0.80, 1.0)));
        assert!(!fits(&interval, shown(0.95, 0.9)), "a rare result");
        assert!(!fits(&interval, interval.run(sets, SEED)), "no result");
        let silent = Case::figure("", "", |_| None);
        assert!(!fits(&silent, silent.run(sets, SEED)), "a figure without an answer is none");
    }
    let fits = |case: &Case, share: f64| case.fits(&shown(share, 1.0), 1000, ERRORS);
    assert!(!fits(&alarm, 0.08) && !fits(&interval, 0.90) && !fits(&interval, 0.99));
}

#[test]
fn every_claim_excludes_some_outcome() {
    let all = [
        coverage::cases(),
        alarms::cases(),
        steps::cases(),
        runs::cases(),
        places::cases(),
        judgements::cases(),
        kinds::cases(),
        guarded::cases(),
        nights::cases(),
    ];
    for case in all.into_iter().flatten() {
        let (least, most) = case.claim.unwrap_or((0.5, 0.5));
        let is_width = case.method.starts_with(WIDTH) && most <= 1.1;
        assert!(least > 0.0 || most < 0.5 || is_width, "{}, {} cannot be refuted", case.method, case.data);
    }
}
