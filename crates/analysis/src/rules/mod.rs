//! The rules that produce findings, one per file. Rules only examine existing numbers. docs/findings/ID.md documents
//! each rule. To add a rule, add a file with the rule and its test case, list the rule here, and write its page.

mod backlog_drops;
mod below_expected;
mod bimodal;
mod black_hole;
pub(crate) mod buffer_limited;
mod conntrack_full;
mod contamination;
mod cpu_per_byte;
pub(crate) mod cpu_throttled;
mod cpu_unexplained;
mod cwnd_limited;
mod datagram_loss;
mod direction_asymmetry;
pub(crate) mod direction_pairs;
pub(crate) mod disturbed;
mod emulated;
pub(crate) mod ethtool;
mod fragmentation;
mod generator_limited;
mod host_freeing;
mod imported;
mod level_shift;
mod limited;
mod link_rate;
pub(crate) mod lost_checksum;
mod machine_change;
mod mtu_mismatch;
mod noisy_host;
pub(crate) mod offload_off;
mod page_balloon;
mod pair_shares;
pub(crate) mod policed_port;
mod prelude;
mod probe_cost;
pub(crate) mod qdisc_drops;
mod queues;
mod receiver_limited;
mod refusals;
pub(crate) mod retransmits;
pub(crate) mod shaped_port;
pub(crate) mod significance;
mod single_queue_bound;
pub(crate) mod slow_congestion_control;
mod slow_host;
mod slow_pair;
mod snat_ports;
mod softirq_bound;
pub(crate) mod stalled;
mod step_dominates;
mod tail_latency;
mod too_many_queues;
mod too_noisy_to_say;
mod trend;
mod unreadable_trials;
mod unsteady;
mod vhost_off;
mod vhost_pairs;
mod vhost_slower;
mod wait_mistaken_for_work;
mod waiting;
mod warm_up_too_short;
mod workload_limit;

use findings::{Comparison, Findings, ResultSummary};
use samples::{DeviceCounters, ResultEnd, RunHeader};

use crate::{
    commands::Commands,
    fits::Fits,
    observations::Observations,
    rule::{self, Claim, Subject, strongest, strongest_by_device},
};

const ONE: &str = "this test";

pub(crate) struct Context<'a> {
    pub(crate) header: &'a RunHeader,
    /// The list of findings is still empty.
    pub(crate) findings: &'a Findings,
    pub(crate) measured: &'a [Observations<'a>],
    pub(crate) fits: &'a Fits,
    pub(crate) ends: &'a [ResultEnd],
}

impl<'a> Context<'a> {
    const fn commands(&self) -> Commands<'a> {
        Commands::of(self.header)
    }

    fn results(&self) -> impl Iterator<Item = (&'a ResultSummary, &'a Observations<'a>)> + use<'a> {
        self.findings.results.iter().zip(self.measured)
    }

    fn devices(&self) -> impl Iterator<Item = (&'a ResultSummary, &'a DeviceCounters)> + use<'a> {
        self.findings.results.iter().flat_map(|result| {
            let devices = result.counters.iter().flat_map(|counters| &counters.devices);
            devices.map(move |device| (result, device))
        })
    }

    fn measured_of(&self, id: &str) -> Option<&'a Observations<'a>> {
        self.measured.iter().find(|result| result.record.id == id)
    }

    fn compare(&self, this: &Observations<'_>, that: &Observations<'_>) -> Option<Comparison> {
        self.fits.compare(this, that)
    }
}

impl Subject for Context<'_> {
    type Of<'a> = Context<'a>;
}

pub(crate) type Rule = rule::Rule<Context<'static>>;

/// The order decides between findings of equal severity.
macro_rules! rules {
    ($($rule:ident,)*) => {
        pub(crate) const ALL: &[Rule] = &[$($rule::RULE),*];
        #[cfg(test)]
        const CASES: &[tests::Case] = &[$($rule::tests::CASE),*];
    };
}

rules! {
    // Rules about the validity of all numbers come first.
    disturbed,
    unreadable_trials,
    machine_change,
    // Causes with direct evidence come before inferred ones.
    black_hole,
    cpu_throttled,
    lost_checksum,
    snat_ports,
    conntrack_full,
    policed_port,
    backlog_drops,
    qdisc_drops,
    shaped_port,
    workload_limit,
    offload_off,
    vhost_off,
    vhost_slower,
    page_balloon,
    host_freeing,
    mtu_mismatch,
    fragmentation,
    stalled,
    bimodal,
    level_shift,
    trend,
    unsteady,
    warm_up_too_short,
    noisy_host,
    too_noisy_to_say,
    emulated,
    contamination,
    slow_host,
    slow_pair,
    direction_asymmetry,
    retransmits,
    datagram_loss,
    link_rate,
    slow_congestion_control,
    buffer_limited,
    cwnd_limited,
    cpu_per_byte,
    softirq_bound,
    single_queue_bound,
    too_many_queues,
    wait_mistaken_for_work,
    tail_latency,
    step_dominates,
    below_expected,
    tunnel_cost,
    generator_limited,
    receiver_limited,
    cpu_unexplained,
    probe_cost,
    imported,
}

#[cfg(test)]
mod tests;
mod tunnel_cost;
