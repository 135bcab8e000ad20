//! Compares two traces by their rates, so their durations may differ.

use crate::order::sort_descending;
use std::collections::BTreeSet;

use findings::{
    CallComparison, ConsumerComparison, EnvironmentChange, TRACE_COMPARISON_SCHEMA, TraceComparison,
    TraceSummary, TracedCall,
};
use samples::{CpuConsumer, Trace};
use units::Nanos;

use super::{CallGrouping, trace};
use crate::comparison::{differs, of_machines};

#[must_use]
pub fn trace_comparison(a: &Trace, b: &Trace) -> TraceComparison {
    let mut environment_changes = environment_changes(a, b);
    environment_changes.sort_by_key(|change| !change.important);
    let (a, b) = (trace(a, CallGrouping::Call), trace(b, CallGrouping::Call));
    TraceComparison {
        schema: TRACE_COMPARISON_SCHEMA,
        environment_changes,
        calls: calls(&a, &b),
        consumers: consumers(&a, &b),
        a,
        b,
    }
}

fn environment_changes(a: &Trace, b: &Trace) -> Vec<EnvironmentChange> {
    let probes = |trace: &Trace| trace.probes.iter().map(|probe| probe.word()).collect::<Vec<_>>().join(", ");
    let mut changes = of_machines(&a.environment, &b.environment);
    changes.extend(differs("plumb", a.tool.clone(), b.tool.clone(), true));
    changes.extend(differs("probes", probes(a), probes(b), true));
    changes
}

fn calls(a: &TraceSummary, b: &TraceSummary) -> Vec<CallComparison> {
    let names: BTreeSet<&str> = a.calls.iter().chain(&b.calls).map(|call| call.count.call.as_str()).collect();
    let of =
        |side: &TraceSummary, name: &str| side.calls.iter().find(|call| call.count.call == name).cloned();
    let mut calls: Vec<CallComparison> = names
        .into_iter()
        .map(|name| {
            let (one, other) = (of(a, name), of(b, name));
            CallComparison {
                call: name.to_owned(),
                rate_ratio: ratio(one.as_ref().map(|it| it.rate), other.as_ref().map(|it| it.rate)),
                per_call_ratio: ratio(per_call(one.as_ref()), per_call(other.as_ref())),
                running_ratio: ratio(running(one.as_ref(), a.elapsed), running(other.as_ref(), b.elapsed)),
                a: one,
                b: other,
            }
        })
        .collect();
    let weight = |call: &CallComparison| {
        let share = |side: &Option<TracedCall>| side.as_ref().and_then(|it| it.share).unwrap_or_default();
        share(&call.a).max(share(&call.b))
    };
    sort_descending(&mut calls, |one| weight(one));
    calls
}

fn per_call(call: Option<&TracedCall>) -> Option<f64> {
    Some(call?.per_call?.0 as f64)
}

fn running(call: Option<&TracedCall>, elapsed: Nanos) -> Option<f64> {
    Some(call?.count.running?.0 as f64 / (elapsed.0.max(1)) as f64)
}

fn ratio(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    Some(b? / a.filter(|a| *a > 0.0)?)
}

fn consumers(a: &TraceSummary, b: &TraceSummary) -> Vec<ConsumerComparison> {
    let (Some(one), Some(other)) = (&a.cpu, &b.cpu) else { return Vec::new() };
    let all: BTreeSet<CpuConsumer> =
        one.shares.iter().chain(&other.shares).map(|share| share.consumer).collect();
    let mut consumers: Vec<ConsumerComparison> = all
        .into_iter()
        .map(|consumer| {
            let cpus = |side: &findings::TracedCpu| {
                side.shares
                    .iter()
                    .filter(|share| share.consumer == consumer)
                    .map(|share| share.cpus)
                    .sum::<f64>()
            };
            let (a, b) = (cpus(one), cpus(other));
            ConsumerComparison { consumer, a, b, ratio: ratio(Some(a), Some(b)) }
        })
        .collect();
    sort_descending(&mut consumers, |one| one.a.max(one.b));
    consumers
}
