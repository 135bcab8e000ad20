//! Renders a run in progress: its progress, results with intervals, and the latest trials.

use findings::RunResult;
use maud::{Markup, html};
use report::Scale;
use samples::{Arm, ResultRecord, RunState, Trial};

use super::following::Following;
use crate::{links, shell::short, time};

const MOST_TRIALS: usize = 12;
const WIDTH: f64 = 200.0;

pub(super) fn render(following: &Following) -> Markup {
    let header = &following.record.header;
    html! {
        h1 { bdi { (short(&header.scenario.title)) } }
        (progress(following))
        h2 { @if following.is_under_way { "Results so far" } @else { "Results" } }
        @if following.results.results.is_empty() { p.empty { "No results yet: the lab is being created or the first trials are running." } }
        @else { (results(&following.results.results)) }
        @if !following.record.trials.is_empty() { h2 { "Last trials" } (trials(following)) }
    }
}

fn progress(following: &Following) -> Markup {
    let progress = &following.progress;
    let planned = if progress.state == RunState::Complete { progress.completed } else { progress.planned };
    let report = links::run(&following.record.header.id);
    html! {
        div.progress-line role="status" {
            @if following.is_under_way {
                span.badge.busy { "running" }
                " " strong { (progress.completed) " of " (progress.planned) " trials" }
            } @else if progress.state == RunState::Complete {
                span.badge.good { "complete" }
                " " strong { (progress.completed) " trials. " } a href=(report) { "Read the report" }
            } @else {
                span.badge.doubtful { "interrupted" }
                " " strong { (progress.completed) " of " (progress.planned) " trials. " }
                code { "plumb run --resume " (short(&following.record.header.id.0)) } " continues it; "
                a href=(report) { "current report" }
            }
        }
        progress max=(planned.max(1)) value=(progress.completed) aria-label="Completed trials" {}
    }
}

fn results(results: &[RunResult]) -> Markup {
    html! {
        div.wide tabindex="0" role="group" aria-label="Results" {
            table.results {
                thead { tr {
                    th scope="col" { "Result" } th.number scope="col" { "Value" } th.number scope="col" { "Interval" }
                    th.interval scope="col" { span.unseen { "Interval chart" } } th.number scope="col" { "Trials" }
                } }
                tbody { @for it in results { (result(it, reach(results, it))) } }
            }
        }
    }
}

fn result(result: &RunResult, reach: f64) -> Markup {
    let value = &result.value;
    let scale = Scale::of(result.metric, value.estimate);
    html! {
        tr {
            td.name { bdi { (short(&report::result_label(&result.path, &result.levels, &result.workload))) } }
            td.number { strong { (scale.quantity(value.estimate)) } }
            td.number {
                @match &value.interval { Some(interval) => (scale.range(interval)), None => span.faint { "too few trials" } }
            }
            td.interval { (drawn(result, reach)) }
            td.number { (value.trials) }
        }
    }
}

fn reach(results: &[RunResult], of: &RunResult) -> f64 {
    let same = results.iter().filter(|it| it.metric == of.metric && it.workload == of.workload);
    let ends = same.map(|it| {
        it.value.interval.map_or(it.value.estimate, |interval| interval.high.max(it.value.estimate))
    });
    ends.filter(|end| end.is_finite()).fold(0.0, f64::max)
}

fn drawn(result: &RunResult, reach: f64) -> Markup {
    let x = |value: f64| {
        format!("{:.1}", if reach > 0.0 { (value / reach).clamp(0.0, 1.0) * (WIDTH - 6.0) } else { 0.0 })
    };
    let value = &result.value;
    html! {
        svg viewBox={ "0 0 " (WIDTH) " 16" } aria-hidden="true" {
            rect.bar x="0" y="4" width=(x(value.estimate)) height="8" {}
            @if let Some(interval) = value.interval {
                path.interval d={ "M" (x(interval.low)) " 2v12M" (x(interval.low)) " 8H" (x(interval.high)) "M" (x(interval.high)) " 2v12" } {}
            }
        }
    }
}

fn trials(following: &Following) -> Markup {
    let record = &following.record;
    html! {
        div.wide tabindex="0" role="group" aria-label="Trials" {
            table {
                thead { tr {
                    th.number scope="col" { "Block" } th scope="col" { "Result" } th.number scope="col" { "Value" }
                    th scope="col" { "Started (UTC)" } th scope="col" { "Kind" }
                } }
                tbody {
                    @for trial in record.trials.iter().rev().take(MOST_TRIALS) {
                        tr {
                            td.number { (trial.block + 1) }
                            @let result = record.header.results.iter().find(|result| result.id == trial.result);
                            td.name { bdi { (short(&result.map_or_else(|| trial.result.clone(), label))) } }
                            td.number { (value(trial)) }
                            td { (time::second_of_day(trial.started)) }
                            td { (reason(trial)) }
                        }
                    }
                }
            }
        }
    }
}

fn label(result: &ResultRecord) -> String {
    report::result_label(&result.path, &result.levels, &result.workload)
}

fn value(trial: &Trial) -> Markup {
    let metric = trial.metric();
    match trial.value(metric) {
        Some(value) => html! { (Scale::of(metric, value).quantity(value)) },
        None => html! { span.faint { "no value" } },
    }
}

fn reason(trial: &Trial) -> Markup {
    let text = match trial.arm {
        Arm::Measure => "measurement",
        Arm::Again => "repeated baseline",
        Arm::Probed => "with probes",
        Arm::Alone => "alone",
    };
    html! { (text) @if !trial.discarded.is_empty() { ", repeated after a disturbance" } }
}
