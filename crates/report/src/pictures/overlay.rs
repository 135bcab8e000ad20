//! Several runs in one chart, with a line for each run.

use findings::ResultSummary;

use super::{
    percentiles::{self, Form, Timed},
    time_series::{self, COLUMN, Reduced, plot, span},
};
use crate::{
    chart::*,
    kind::{self, TimeSeries},
    sections::Source,
};

type Same<'a> = [(&'a Source<'a>, &'a ResultSummary)];

/// Draws the results of at least two runs.
pub(super) fn build(sources: &[Source<'_>]) -> Vec<Chart> {
    let mut results: Vec<&ResultSummary> = Vec::new();
    for result in sources.iter().flat_map(|source| &source.findings.results) {
        if results.iter().all(|known| known.id != result.id) {
            results.push(result);
        }
    }
    let same = results.iter().map(|result| {
        let pairs = sources
            .iter()
            .flat_map(|source| source.findings.results.iter().map(move |other| (source, other)));
        pairs.filter(|(_, other)| other.id == result.id).collect::<Vec<_>>()
    });
    let same: Vec<_> = same.filter(|same| same.len() > 1).collect();
    let shares = |form| same.iter().filter_map(move |same| distributions(same, form));
    let over_time = same.iter().filter_map(|same| over_time(same));
    shares(Form::Percentiles).chain(shares(Form::Cdf)).chain(over_time).collect()
}

fn distributions<'a>(same: &Same<'a>, form: Form) -> Option<Chart> {
    let named = |(source, result): &(&Source<'_>, &'a ResultSummary)| -> Option<Timed<'a>> {
        let (result, (_, times)) = percentiles::timed(result).into_iter().next()?;
        Some((result, (source.findings.run.id.to_string(), times)))
    };
    let timed: Vec<Timed<'a>> = same.iter().filter_map(named).collect();
    (timed.len() > 1).then(|| percentiles::chart(&same[0].1.label, &timed, form))
}

fn over_time(same: &Same<'_>) -> Option<Chart> {
    let of_run = |(source, result): &(&Source<'_>, &ResultSummary)| {
        let series = kind::series(&time_series::trial(source.record?, result)?.measurement);
        (!series.is_empty()).then(|| (source.findings.run.id.to_string(), series))
    };
    let runs: Vec<(String, Vec<TimeSeries>)> = same.iter().filter_map(of_run).collect();
    let (_, first) = runs.first().filter(|_| runs.len() > 1)?;
    let drawn: Vec<(usize, Reduced<'_>)> = runs
        .iter()
        .enumerate()
        .flat_map(|(number, (_, series))| series.iter().map(move |one| (number, Reduced::of(one))))
        .collect();
    let span = span(drawn.iter().map(|(_, one)| one));
    let of_quantity = |what: &TimeSeries| {
        let alike = drawn.iter().filter(|(_, one)| one.series.what == what.what);
        plot(&alike.map(|(number, one)| (*number, one)).collect::<Vec<_>>(), span)
    };
    let mut plots: Vec<Plot> = first.iter().map(of_quantity).collect();
    plots[0].keys =
        runs.iter().enumerate().map(|(number, (run, _))| Key::Line(number, run.clone())).collect();
    let (mut data, result) = (Data::new(["run", "result"].into_iter().chain(COLUMN)), same[0].1);
    drawn.iter().for_each(|(number, one)| one.push_into(&mut data, &[&runs[*number].0, &result.id]));
    let about = runs.iter().map(|(run, series)| format!("{run}: {}", time_series::about(&series[0], &[])));
    let quantities: Vec<&str> = first.iter().map(|series| series.what).collect();
    Some(Chart {
        kind: time_series::KIND,
        title: format!("{}: {} over time, {} runs", result.label, quantities.join(" and "), runs.len()),
        about: about.collect::<Vec<_>>().join(" "),
        drawing: Drawing::Plots(plots),
        data,
        plain: None,
    })
}
