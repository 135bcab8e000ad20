//! Scenarios that differ in DRAM size, load shifts and histogram noise.

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) vms: usize,
    pub(crate) intervals: usize,
    pub(crate) room: f64,
    /// Mean number of intervals between a VM's load changes, or `None` for constant loads.
    pub(crate) phase: Option<f64>,
    pub(crate) noise: f64,
    pub(crate) step: f64,
    pub(crate) blind: bool,
    pub(crate) hits: bool,
}

const SHIFTING: Scenario = Scenario {
    name: "shifting",
    vms: 1000,
    intervals: 300,
    room: 1.2,
    phase: Some(60.0),
    noise: 0.1,
    step: 0.1,
    blind: false,
    hits: false,
};

pub(crate) const ALL: [Scenario; 9] = [
    SHIFTING,
    Scenario { name: "constant", phase: None, ..SHIFTING },
    Scenario { name: "constant, short", phase: None, room: 0.8, ..SHIFTING },
    Scenario { name: "tight", room: 1.02, ..SHIFTING },
    Scenario { name: "short", room: 0.7, ..SHIFTING },
    Scenario { name: "noisy", noise: 1.0, ..SHIFTING },
    Scenario { name: "noisy, hits", noise: 1.0, hits: true, ..SHIFTING },
    Scenario { name: "fast shifts", phase: Some(8.0), step: 0.05, ..SHIFTING },
    Scenario { name: "no accesses", blind: true, ..SHIFTING },
];
