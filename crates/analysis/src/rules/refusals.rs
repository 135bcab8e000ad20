//! Hosts that refused packets, in trials or in a failed attempt.

use findings::result_label;
use samples::HostCounters;

use super::Context;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Harm {
    /// No trial could be measured.
    Fatal,
    Measured,
}

pub(super) struct Refusal<'a> {
    pub(super) result: &'a str,
    pub(super) path: &'a str,
    pub(super) label: String,
    pub(super) harm: Harm,
    pub(super) host: &'a HostCounters,
}

/// Lists fatal refusals first.
pub(super) fn refusals<'a>(context: &Context<'a>) -> Vec<Refusal<'a>> {
    let record = |id: &str| context.header.results.iter().find(|result| result.id == id);
    let fatal = context.ends.iter().filter_map(|end| Some((record(&end.result)?, end.counters.as_ref()?)));
    let fatal = fatal.map(|(result, counters)| (result, counters, Harm::Fatal));
    let measured = context.findings.results.iter();
    let measured = measured.filter_map(|result| Some((record(&result.id)?, result.counters.as_ref()?)));
    let all = fatal.chain(measured.map(|(result, counters)| (result, counters, Harm::Measured)));
    all.flat_map(|(result, counters, harm)| {
        counters.hosts.iter().filter(|host| host.has_refused()).map(move |host| Refusal {
            result: &result.id,
            path: &result.path,
            label: result_label(&result.path, &result.levels, Some(&result.workload)),
            harm,
            host,
        })
    })
    .collect()
}

pub(super) fn by_host<'a>(refusals: impl IntoIterator<Item = Refusal<'a>>) -> Vec<Vec<Refusal<'a>>> {
    let mut groups: Vec<Vec<Refusal<'a>>> = Vec::new();
    for refusal in refusals {
        match groups.iter_mut().find(|group| group[0].host.host == refusal.host.host) {
            Some(group) => group.push(refusal),
            None => groups.push(vec![refusal]),
        }
    }
    groups
}
