//! Causes shown by the counters of the client's own device and host.

use samples::DeviceCounters;

use super::{Claim, Rule, SingleTrial};
use crate::rules::{lost_checksum, policed_port, qdisc_drops, shaped_port};

pub(super) const CHECKSUM: Rule =
    Rule::cause("lost-checksum", checksum).over(&["stalled", "retransmits", "slow-congestion-control"]);
pub(super) const POLICER: Rule = Rule::cause("policed-port", |trial| of_devices(trial, policed_port::of_one))
    .over(&["stalled", "retransmits", "slow-congestion-control", "small-buffers"]);
pub(super) const DROPS: Rule =
    Rule::cause("qdisc-drops", |trial| of_devices(trial, qdisc_drops::of_one)).over(&["retransmits"]);
pub(super) const SHAPER: Rule =
    Rule::cause("shaped-port", |trial| of_devices(trial, shaped_port::of_one)).over(&["small-buffers"]);

fn of_devices(trial: &SingleTrial<'_>, claim: impl Fn(&DeviceCounters) -> Option<Claim>) -> Vec<Claim> {
    trial.single.counters.iter().flat_map(|counters| &counters.devices).filter_map(claim).collect()
}

fn checksum(trial: &SingleTrial<'_>) -> Vec<Claim> {
    let hosts = trial.single.counters.iter().flat_map(|counters| &counters.hosts);
    hosts.filter_map(lost_checksum::of_one).collect()
}
