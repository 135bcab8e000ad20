//! Hosts that refused packets, in trials or in a failed attempt.

use findings::result_label;
use samples::HostCounters;

use super::prelude::*;

pub(super) const SYMPTOMS: &[&str] =
    &["stalled", "retransmits", "tail-latency", "unsteady", "level-shift", "trend", "below-expected"];

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

impl Refusal<'_> {
    pub(super) fn of_connections(&self, lead: String) -> Claim {
        let label = &self.label;
        let (severity, consequence) = match self.harm {
            Harm::Fatal => (Severity::Serious, format!("{label} cannot be measured")),
            Harm::Measured => {
                (Severity::Warning, format!("connections were refused while measuring {label}"))
            }
        };
        Claim::new(severity, lead).detail(consequence)
    }
}

/// Makes one claim per host that refused packets, from the worst refusal and with the evidence of all refusals.
pub(super) fn by_host<'a>(
    context: &Context<'a>,
    applies: impl Fn(&Refusal<'a>) -> bool,
    claim: impl Fn(&Refusal<'a>) -> Option<Claim>,
    evidence: impl Fn(&Refusal<'a>) -> Evidence,
) -> Vec<Claim> {
    let mut hosts: Vec<Vec<Refusal<'a>>> = Vec::new();
    for refusal in refusals(context).into_iter().filter(applies) {
        match hosts.iter_mut().find(|host| host[0].host.host == refusal.host.host) {
            Some(host) => host.push(refusal),
            None => hosts.push(vec![refusal]),
        }
    }
    let of_host = |host: &Vec<Refusal<'a>>| {
        let results = host.iter().map(|refusal| refusal.result.to_owned());
        Some(claim(&host[0])?.with_results(results).affected().with_evidence(host.iter().map(&evidence)))
    };
    hosts.iter().filter_map(of_host).collect()
}

/// Fatal refusals come first.
fn refusals<'a>(context: &Context<'a>) -> Vec<Refusal<'a>> {
    let record = |id: &str| context.header.results.iter().find(|result| result.id == id);
    let fatal = context.ends.iter().filter_map(|end| Some((record(&end.result)?, end.counters.as_ref()?)));
    let fatal = fatal.map(|(result, counters)| (result, counters, Harm::Fatal));
    let measured = context.findings.results.iter();
    let measured = measured.filter_map(|result| Some((record(&result.id)?, result.counters.as_ref()?)));
    let all = fatal.chain(measured.map(|(result, counters)| (result, counters, Harm::Measured)));
    all.flat_map(|(result, counters, harm)| {
        let is_cause =
            move |host: &&HostCounters| host.has_refused() || (harm == Harm::Fatal && host.uses_all_ports());
        counters.hosts.iter().filter(is_cause).map(move |host| Refusal {
            result: &result.id,
            path: &result.path,
            label: result_label(&result.path, &result.levels, Some(&result.workload)),
            harm,
            host,
        })
    })
    .collect()
}
