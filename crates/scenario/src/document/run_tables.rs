//! The tables that describe what is run on the lab, as written. Their field docs are the descriptions in the
//! JSON Schema.

use std::ops::Range;

use samples::Objective;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;
use units::{Nanos, Share};

use super::{
    device_table::Vary,
    written::{As, Value},
};
use crate::{link::Layer, names::DeviceRef, scenario::Ports};

/// A path: from one end to another through named layers. The client is at `from`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PathTable {
    /// The client's end: `host:device`, or the host alone if only one of its devices has an address.
    #[schemars(with = "String", example = &"node1:eth0")]
    pub(crate) from: Spanned<String>,
    /// The server's end, written alike.
    #[schemars(with = "String", example = &"target")]
    pub(crate) to: Spanned<String>,
    /// Every layer that a packet meets on its way there. The check follows a packet and refuses the scenario where it
    /// meets others. Not needed between hosts that exist already, where it is `network`.
    #[schemars(with = "Option<Vec<Layer>>")]
    pub(crate) layers: Option<Spanned<Vec<Spanned<Layer>>>>,
    /// Whether the other paths are shown as a share of this one. True for exactly one path.
    #[schemars(with = "Option<bool>")]
    pub(crate) baseline: Option<Spanned<bool>>,
    /// What it shows, in a few words.
    #[serde(default)]
    pub(crate) about: String,
}

/// What a sweep varies. Every cell that it can change is measured at each of its values.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FactorTable {
    /// What is varied.
    #[schemars(with = "Vary")]
    pub(crate) vary: Spanned<String>,
    /// The devices that it is set on, each `host:device`. Only for what is a setting of devices.
    #[serde(default)]
    #[schemars(with = "Vec<As<DeviceRef>>")]
    pub(crate) devices: Vec<Spanned<As<DeviceRef>>>,
    /// Its values, at least two; effects are shown against the first.
    #[schemars(with = "Option<Vec<As<Value>>>", length(min = 2))]
    pub(crate) values: Option<Spanned<Vec<Spanned<As<Value>>>>>,
    /// The factor, one of queues, that streams are multiples of; with `times` instead of `values`.
    #[schemars(with = "Option<String>", example = &"queues")]
    pub(crate) of: Option<Spanned<String>>,
    /// How many times as many streams as `of` has, at least two.
    #[schemars(with = "Option<Vec<u32>>", length(min = 2))]
    pub(crate) times: Option<Spanned<Vec<Spanned<u32>>>>,
    /// The most streams; where it applies, the level says so. Default: 128.
    #[schemars(with = "Option<u32>", range(min = 1, max = 1024))]
    pub(crate) most: Option<Spanned<u32>>,
    /// The paths that it is confined to. Default: all that it can change.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub(crate) paths: Vec<Spanned<String>>,
    /// The workloads that it is confined to. Default: all that it can change.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub(crate) workloads: Vec<Spanned<String>>,
}

impl FactorTable {
    /// The places of its values, in the order of its levels.
    pub(crate) fn places(&self) -> Vec<Range<usize>> {
        let values = self.values.iter().flat_map(|values| values.get_ref()).map(Spanned::span);
        let times = self.times.iter().flat_map(|times| times.get_ref()).map(Spanned::span);
        values.chain(times).collect()
    }

    /// Where its values stand together.
    pub(crate) fn values_place(&self) -> Range<usize> {
        let values = self.values.as_ref().map(Spanned::span);
        values.or_else(|| self.times.as_ref().map(Spanned::span)).unwrap_or_else(|| self.vary.span())
    }
}

/// When a run has enough trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum StoppingRule {
    /// Each comparison is established, or within the noise.
    Clear,
}

/// How the scenario is run.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScheduleTable {
    /// Trials of each cell. Default: 5. With a budget or a precision, the most that a cell gets; then 20.
    #[schemars(with = "Option<u32>", range(min = 1, max = 1000))]
    pub(crate) trials: Option<Spanned<u32>>,
    /// Left between two trials. Default: 50ms.
    #[schemars(with = "Option<As<Nanos>>")]
    pub(crate) pause: Option<Spanned<As<Nanos>>>,
    /// The seed of the order of trials. Default: a new one for each run, printed and stored.
    #[schemars(with = "Option<u64>")]
    pub(crate) seed: Option<u64>,
    /// Time for all trials. They are then spent where they decide something: each cell is measured twice, and
    /// those that cannot be the best any more get no more.
    #[schemars(with = "Option<As<Nanos>>")]
    pub(crate) budget: Option<Spanned<As<Nanos>>>,
    /// A cell has enough trials when the interval of its median reaches no further than this to either side.
    #[schemars(with = "Option<As<Share>>")]
    pub(crate) precision: Option<Spanned<As<Share>>>,
    /// What the best setting is sought for. Default: efficient.
    #[schemars(with = "Option<Objective>")]
    pub(crate) objective: Option<Spanned<Objective>>,
    /// Until when blocks are added to the first five, within the budget: `clear`, until each comparison is established or within
    /// the noise. Not beside `precision` and `objective`, which seek a setting.
    pub(crate) until: Option<StoppingRule>,
    /// Where the client's ports come from, of workloads that name none. Default: fixed.
    #[schemars(with = "Option<Ports>")]
    pub(crate) ports: Option<Ports>,
    /// Whether paths between hosts that exist already are measured at the same time where they share no machine and no
    /// `uplink`. Default: true with `pairs`, else false.
    pub(crate) at_once: Option<bool>,
}
