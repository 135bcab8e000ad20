//! The history of a scenario as a sparkline in the list of runs.

use maud::{Markup, html};
use samples::{RunId, RunState};
use store::{RunListing, Store};

use crate::{links, site::Site};

/// Limits on sparklines per page and runs per sparkline.
const MOST_SCENARIOS: usize = 4;
const MOST_RUNS: usize = 20;
const LEAST_RUNS: usize = 3;
/// Size in SVG units.
const WIDTH: f64 = 96.0;
const HEIGHT: f64 = 20.0;
const MARGIN: f64 = 3.0;

/// Values of a scenario's first result, from the oldest run to `run`.
pub(super) struct Trend {
    pub(super) run: RunId,
    result: String,
    values: Vec<f64>,
}

pub(super) fn of(site: &Site, store: &Store, runs: &[RunListing]) -> Vec<Trend> {
    let mut newest: Vec<&RunListing> = Vec::new();
    for run in runs.iter().filter(|run| run.state == RunState::Complete && !run.imported) {
        if newest.len() < MOST_SCENARIOS && newest.iter().all(|other| other.scenario != run.scenario) {
            newest.push(run);
        }
    }
    let trend = |run: &&RunListing| {
        let listed = store.runs_like(&run.id).ok()?;
        let earlier = listed.iter().filter(|other| other.started <= run.started).take(MOST_RUNS);
        let mut runs: Vec<_> = earlier.filter_map(|other| site.results.of(other, store).ok()).collect();
        runs.reverse();
        let first = analysis::history(&runs).into_iter().next()?;
        (first.points.len() >= LEAST_RUNS).then(|| Trend {
            run: run.id.clone(),
            values: first.points.iter().map(|(_, value)| value.estimate).collect(),
            result: first.newest.result,
        })
    };
    newest.iter().filter_map(trend).collect()
}

pub(super) fn link(trend: &Trend) -> Markup {
    let about = format!("History of {} over {} runs", trend.result, trend.values.len());
    html! {
        a.trend href=(links::history(&trend.run)) title=(about) aria-label=(about) {
            svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } aria-hidden="true" { polyline points=(points(&trend.values)) {} }
        }
    }
}

fn points(values: &[f64]) -> String {
    let (low, high) = values
        .iter()
        .fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(*value), high.max(*value)));
    let place = |share: f64, size: f64| MARGIN + share * (size - 2.0 * MARGIN);
    let point = |(number, value): (usize, &f64)| {
        let x = place(number as f64 / (values.len() - 1).max(1) as f64, WIDTH);
        let share = if high > low { (value - low) / (high - low) } else { 0.5 };
        format!("{x:.1},{:.1}", place(1.0 - share, HEIGHT))
    };
    values.iter().enumerate().map(point).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_spans_the_drawing_and_equal_values_are_in_its_middle() {
        assert_eq!(points(&[1.0, 3.0, 2.0]), "3.0,17.0 48.0,3.0 93.0,10.0");
        assert_eq!(points(&[5.0, 5.0]), "3.0,10.0 93.0,10.0");
    }
}
