//! The tables that describe the run.

use std::ops::Range;

use samples::Objective;
use schemars::JsonSchema;
use serde::Deserialize;
use units::{Nanos, Share};

use super::{
    device_table::Vary,
    spanned::Spanned,
    written::{As, Value},
};
use crate::{link::Layer, names::DeviceRef, scenario::Ports};

/// A path from the client to the server through named layers.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PathTable {
    /// The client's end: `host:device`, or just the host if only one of its devices has an address.
    #[schemars(example = &"node1:eth0")]
    pub(crate) from: Spanned<String>,
    /// The server's end, in the same form.
    #[schemars(example = &"target")]
    pub(crate) to: Spanned<String>,
    /// All layers between client and server. Plumb traces a packet, and rejects the scenario if the packet passes
    /// other layers. Default: the layers of the traced packet.
    pub(crate) layers: Option<Spanned<Vec<Spanned<Layer>>>>,
    /// Whether the other paths are shown relative to this one. True for exactly one path. Default: true if it is
    /// the only path.
    pub(crate) baseline: Option<Spanned<bool>>,
    /// A short description.
    #[serde(default)]
    pub(crate) about: String,
}

/// A setting to vary. Each result that it affects is measured with each value.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FactorTable {
    /// The setting to vary.
    #[schemars(with = "Vary")]
    pub(crate) vary: Spanned<String>,
    /// The devices to set it on, each `host:device`. For device settings only.
    #[serde(default)]
    pub(crate) devices: Vec<Spanned<As<DeviceRef>>>,
    /// The values, at least two. Effects are relative to the first.
    #[schemars(length(min = 2))]
    pub(crate) values: Option<Spanned<Vec<Spanned<As<Value>>>>>,
    /// A factor that varies queues. Each stream count is a multiple of its value. Replaces `values`; needs `times`.
    #[schemars(example = &"queues")]
    pub(crate) of: Option<Spanned<String>>,
    /// The multipliers, at least two.
    #[schemars(length(min = 2))]
    pub(crate) times: Option<Spanned<Vec<Spanned<u32>>>>,
    /// Maximum number of streams. Larger multiples are capped and labelled. Default: 128.
    #[schemars(range(min = 1, max = 1024))]
    pub(crate) most: Option<Spanned<u32>>,
    /// Paths to restrict the factor to. Default: all paths that it affects.
    #[serde(default)]
    pub(crate) paths: Vec<Spanned<String>>,
    /// Workloads to restrict the factor to. Default: all workloads that it affects.
    #[serde(default)]
    pub(crate) workloads: Vec<Spanned<String>>,
}

impl FactorTable {
    pub(crate) fn places(&self) -> Vec<Range<usize>> {
        let values = self.values.iter().flat_map(|values| values.get_ref()).map(Spanned::span);
        let times = self.times.iter().flat_map(|times| times.get_ref()).map(Spanned::span);
        values.chain(times).collect()
    }

    pub(crate) fn values_place(&self) -> Range<usize> {
        let values = self.values.as_ref().map(Spanned::span);
        values.or_else(|| self.times.as_ref().map(Spanned::span)).unwrap_or_else(|| self.vary.span())
    }
}

/// When to stop adding trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum StoppingRule {
    /// Once every comparison is either established or within the noise.
    Clear,
}

/// How the scenario is run.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScheduleTable {
    /// Trials per result. Default: 5. With a budget or a precision, this is the maximum per result, and its
    /// default is 20.
    #[schemars(range(min = 1, max = 1000))]
    pub(crate) trials: Option<Spanned<u32>>,
    /// Pause between trials. Default: 50ms.
    pub(crate) pause: Option<Spanned<As<Nanos>>>,
    /// Seed for the order of trials. Default: random per run, printed and stored.
    pub(crate) seed: Option<u64>,
    /// Time budget for all trials. Each result is measured twice; further trials go to settings that may still be the
    /// best.
    pub(crate) budget: Option<Spanned<As<Nanos>>>,
    /// Stop measuring a result once its median is known to within plus or minus this share.
    pub(crate) precision: Option<Spanned<As<Share>>>,
    /// How the best setting is chosen. Default: efficient.
    pub(crate) objective: Option<Spanned<Objective>>,
    /// When to stop adding blocks after the first five, within the budget: `clear` stops once each comparison is
    /// established or within the noise. Cannot be combined with `precision` or `objective`: these search for a
    /// setting.
    pub(crate) until: Option<StoppingRule>,
    /// Client ports of workloads without a `source-port`. Default: fixed.
    pub(crate) ports: Option<Ports>,
    /// Whether to measure paths between existing hosts at the same time if they share no machine and no `uplink`.
    /// Default: true with `pairs`, otherwise false.
    pub(crate) at_once: Option<bool>,
}
