//! Every claim about a method, on few data sets with fixed seeds: a small version of `make stats`. Knows no case.

mod alarms;
mod case;
mod coverage;
mod draws;
mod places;

use case::Case;

/// Data sets a case.
const SETS: usize = 60;
/// What chance may add to a claim, in standard errors.
const ERRORS: f64 = 4.0;

fn check(cases: &[Case]) {
    let refuted: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let shown = case.run(SETS);
            let text = format!("{}, {}: {} not in {:?}", case.method, case.data, shown.share, case.allowed);
            (!case.fits(&shown, SETS, ERRORS)).then_some(text)
        })
        .collect();
    assert!(refuted.is_empty(), "{refuted:#?}");
}

#[test]
fn intervals_hold_the_truth_as_often_as_they_say() {
    check(&coverage::cases());
}

#[test]
fn verdicts_are_wrong_as_rarely_as_they_say() {
    check(&alarms::cases());
}

#[test]
fn jumps_humps_and_knees_are_found_as_often_as_they_say() {
    check(&places::cases());
}
