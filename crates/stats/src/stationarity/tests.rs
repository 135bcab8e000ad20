//! Tests the classification with synthetic and measured series.

use super::*;
use crate::distribution::normal_quantile;
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

fn errors(rng: &mut Pcg64Mcg, n: usize, carry: f64) -> Vec<f64> {
    let mut draw = || normal_quantile(rng.random_range(1e-9..1.0));
    let mut error = draw();
    let mut next = || {
        error = carry * error + (1.0 - carry * carry).sqrt() * draw();
        error
    };
    (0..n).map(|_| next()).collect()
}

fn counts(n: usize, carry: f64, value: impl Fn(usize, f64) -> f64) -> [usize; 4] {
    let mut rng = Pcg64Mcg::seed_from_u64(n as u64);
    let mut found = [0; 4];
    for _ in 0..400 {
        let values: Vec<f64> =
            errors(&mut rng, n, carry).iter().enumerate().map(|(at, error)| value(at, *error)).collect();
        found[match stationarity(&values).unwrap() {
            Stationarity::Steady => 0,
            Stationarity::Drift { .. } => 1,
            Stationarity::Levels(_) => 2,
            _ => 3,
        }] += 1;
    }
    found
}

#[test]
fn autocorrelated_noise_has_jumps_in_at_most_five_percent() {
    for (scatter, carry) in [(0.05, 0.0), (0.15, 0.3), (0.15, 0.6), (0.05, 0.8), (0.15, 0.8)] {
        for n in [20, 30, 60, 100, 300] {
            let [_, drifting, jumping, _] = counts(n, carry, |_, error| 1.0 + scatter * error);
            let context = format!("spread {scatter}, carry {carry}, n = {n}: {jumping}, {drifting} of 400");
            assert!(jumping <= 20 && drifting <= 20, "{context}");
        }
    }
}

/// 60 rates in Gbit/s with autocorrelated noise (carry 0.8, 15 %), in which change-point detection finds a jump.
#[test]
fn autocorrelated_wave_is_not_a_jump() {
    let text = include_str!("../../tests/reference/wave.tsv");
    let wave: Vec<f64> = text.split_whitespace().map(|rate| rate.parse().unwrap()).collect();
    assert_eq!(levels::levels(&wave).unwrap().len(), 2);
    assert!(matches!(stationarity(&wave), Some(Stationarity::Unsteady { .. })), "{:?}", stationarity(&wave));
}

#[test]
fn drift_is_not_a_jump() {
    for (change, scatter, n) in [(0.2, 0.02, 60), (0.1, 0.02, 60), (0.4, 0.05, 60), (0.2, 0.02, 20)] {
        let line = |at: usize, error: f64| (1.0 + scatter * error) * (1.0 - change * at as f64 / n as f64);
        let [_, drifting, jumping, _] = counts(n, 0.0, line);
        assert!(drifting >= 360 && jumping <= 8, "{change} in {n}: {drifting}, {jumping} of 400");
    }
    let values: Vec<f64> = (0..60).map(|at| 10.0 - f64::from(at) / 30.0).collect();
    let Some(Stationarity::Drift { from, to }) = stationarity(&values) else {
        panic!("{:?}", stationarity(&values))
    };
    assert!((from - 10.0).abs() < 0.05 && (to - 8.03).abs() < 0.05, "{from} to {to}");
}

#[test]
fn jump_is_not_a_drift() {
    for (scatter, carry, n) in [(0.05, 0.0, 60), (0.05, 0.6, 60), (0.05, 0.3, 100)] {
        let jump = |at: usize, error: f64| (1.0 + scatter * error) * if at < n / 3 { 1.0 } else { 1.3 };
        let [_, drifting, jumping, _] = counts(n, carry, jump);
        assert!(jumping >= 390 && drifting <= 4, "carry {carry}, n = {n}: {jumping}, {drifting} of 400");
    }
    let step = [[5.0; 20], [9.0; 20]].concat();
    assert!(matches!(stationarity(&step), Some(Stationarity::Levels(levels)) if levels.len() == 2));
}

#[test]
fn alternating_series_has_no_single_level() {
    let saw: Vec<f64> = (0..300).map(|at| 60.0 + f64::from(at % 30)).collect();
    assert!(
        matches!(stationarity(&saw), Some(Stationarity::Unsteady { .. } | Stationarity::Steady)),
        "{:?}",
        stationarity(&saw)
    );
}

fn jittered(values: impl Iterator<Item = f64>) -> Vec<f64> {
    values.enumerate().map(|(at, value)| value * [0.99, 1.01, 1.0, 0.995, 1.005][at * 7 % 5]).collect()
}

#[test]
fn three_values_without_data_are_a_stall_and_an_intermittent_series_has_none() {
    let stalled = jittered((0..60).map(|at| if (20..23).contains(&at) { 0.0 } else { 10.0 }));
    assert_eq!(stationarity(&stalled), Some(Stationarity::Stall(vec![Range { start: 20, end: 23 }])));
    let intermittent = jittered((0..60).map(|at| if at % 10 < 3 || at % 5 == 0 { 0.0 } else { 10.0 }));
    assert!(!matches!(stationarity(&intermittent), Some(Stationarity::Stall(_))));
}

#[test]
fn slow_start_settles_in_both_directions() {
    for by in [-0.3, 0.3] {
        let start = jittered((0..40).map(|at| 10.0 * (1.0 + by * (-f64::from(at) / 3.0).exp())));
        let Some(Stationarity::SlowStart { to, settled, .. }) = stationarity(&start) else {
            panic!("{by}: {:?}", stationarity(&start))
        };
        assert!((to - 10.0).abs() < 0.2 && (5..14).contains(&settled), "{by}: {to}, {settled}");
    }
}

#[test]
fn rise_and_the_same_fall_are_the_same_kind() {
    let rise = jittered((0..40).map(|at| if at < 20 { 9.05 } else { 10.0 }));
    let fall: Vec<f64> = rise.iter().rev().copied().collect();
    for series in [rise, fall] {
        assert!(matches!(stationarity(&series), Some(Stationarity::Levels(found)) if found.len() == 2));
    }
}

#[test]
fn warm_up_is_left_out_of_the_levels() {
    let series = jittered((0..60).map(|at| {
        if at < 2 {
            2.0
        } else if at < 30 {
            10.0
        } else {
            16.0
        }
    }));
    let Some(Stationarity::Levels(found)) = stationarity(&series) else {
        panic!("{:?}", stationarity(&series))
    };
    let edges: Vec<_> = found.iter().map(|level| (level.start, level.end)).collect();
    assert_eq!((edges, settled(&series)), (vec![(2, 30), (30, 60)], 2));
}

#[test]
fn few_or_constant_values_are_steady() {
    assert_eq!(stationarity(&[1.0, 9.0]), Some(Stationarity::Steady));
    assert_eq!(stationarity(&[5.0; 50]), Some(Stationarity::Steady));
    assert_eq!((stationarity(&[]), stationarity(&[f64::NAN; 20])), (None, None));
}

proptest! {
    #[test]
    fn no_input_panics(v in prop::collection::vec(prop::num::f64::ANY, 0..60)) {
        let _ = stationarity(&v);
    }
}
