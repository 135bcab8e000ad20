//! Compares our results with reference implementations. Scripts in this folder generated the tables.

use stats::{bimodal, fit, noise, permutation, ratio, series};

fn rows(table: &str) -> Vec<Vec<&str>> {
    let rows: Vec<Vec<&str>> =
        table.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect()).collect();
    assert!(rows.len() >= 20, "the table is empty");
    rows
}

fn numbers(field: &str) -> Vec<f64> {
    field.split_whitespace().map(|number| number.parse().expect("a number")).collect()
}

fn near(got: f64, wanted: f64, within: f64, row: &[&str]) {
    assert!((got - wanted).abs() <= within * wanted.abs().max(1.0), "{got} is not {wanted}: {row:?}");
}

#[test]
fn permutation_tests_match_scipy() {
    for row in rows(include_str!("permutation.tsv")) {
        let (a, b) = (numbers(row[1]), numbers(row[2]));
        let test = permutation::two_sample(&a, &b).expect("finite values");
        assert!(test.exact);
        near(test.p, numbers(row[3])[0], 1e-9, &row);
    }
}

#[test]
fn noise_between_runs_matches_r() {
    for row in rows(include_str!("runs.tsv")) {
        let got = noise::between_runs(&numbers(row[1]), numbers(row[0])[0]).expect("four runs or more");
        near(got.relative, numbers(row[2])[0], 1e-9, &row);
    }
}

#[test]
fn ratios_match_estimates_and_intervals_of_r() {
    for row in rows(include_str!("ratios.tsv")) {
        let (confidence, a, b) = (numbers(row[1])[0], numbers(row[2]), numbers(row[3]));
        let pairs: Vec<(f64, f64)> = a.into_iter().zip(b).collect();
        let got = ratio::paired_ratio(&pairs, confidence).expect("positive values");
        let interval = got.interval.expect("enough values");
        for (got, field) in [got.value, interval.low, interval.high].into_iter().zip(&row[4..]) {
            near(got, numbers(field)[0], 1e-9, &row);
        }
        assert!(interval.confidence >= confidence);
    }
}

#[test]
fn biweights_match_roots_found_by_scipy() {
    for row in rows(include_str!("paired.tsv")) {
        let pairs: Vec<(f64, f64)> = numbers(row[1]).iter().map(|log| (2.0, 2.0 * log.exp())).collect();
        let got = fit::paired_ratio(&pairs, numbers(row[0])[0], 0.95).expect("positive values");
        let interval = got.interval.expect("five pairs at least");
        for (got, wanted) in [got.value, interval.low, interval.high].into_iter().zip(numbers(row[2])) {
            near(got.ln(), wanted, 1e-7, &row);
        }
    }
}

#[test]
fn inflation_matches_the_package_mcmc() {
    for row in rows(include_str!("inflation.tsv")) {
        near(series::inflation(&numbers(row[1])).expect("finite values"), numbers(row[0])[0], 1e-6, &row);
    }
}

#[test]
fn modes_agree_with_dip_test_and_mixture_model() {
    let (mut clear, mut single) = (0, 0);
    for row in rows(include_str!("humps.tsv")) {
        let (dip, gain, means) = (numbers(row[1])[0], numbers(row[2])[0], numbers(row[3]));
        let found = bimodal::bimodal(&numbers(row[4]));
        if dip < 0.01 && gain > 20.0 {
            clear += 1;
            let found = found.unwrap_or_else(|| panic!("missed: {row:?}"));
            near(found.low, means[0], 0.03, &row);
            near(found.high, means[1], 0.03, &row);
        } else if dip > 0.5 || gain < 0.0 {
            single += 1;
            assert_eq!(found, None, "{row:?}");
        }
    }
    assert!(clear >= 12 && single >= 30, "{clear} clear, {single} single");
}
