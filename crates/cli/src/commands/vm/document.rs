//! The output of `plumb vm run`, as a table or JSON.

use std::time::Duration;

use samples::{DeviceState, Environment, MissingProbe, RxTx};
use scenario::{Board, Monitor};
use serde::Serialize;
use units::{Bytes, Nanos};

#[derive(Debug, Serialize)]
pub(super) struct Document {
    pub(super) schema: u32,
    pub(super) vm: Guest,
    pub(super) network: Option<Network>,
    pub(super) accelerator: &'static str,
    pub(super) emulated_reason: Option<String>,
    /// Time from the VMM's start to the guest's init, in nanoseconds.
    pub(super) booted_within: Option<Nanos>,
    /// Time from the VMM's start to the agent's greeting, in nanoseconds.
    pub(super) ready_within: Nanos,
    pub(super) hung_starts: u32,
    pub(super) environment: Environment,
    pub(super) probes: Vec<&'static str>,
    pub(super) missing_probes: Vec<MissingProbe>,
}

#[derive(Debug, Serialize)]
pub(super) struct Guest {
    pub(super) monitor: Monitor,
    /// Only set if the VMM supports several boards.
    pub(super) board: Option<Board>,
    pub(super) vcpus: u32,
    pub(super) memory: Bytes,
}

#[derive(Debug, Serialize)]
pub(super) struct Network {
    #[serde(skip)]
    pub(super) monitor: Monitor,
    pub(super) vhost: bool,
    pub(super) devices: Vec<DeviceState>,
}

impl Document {
    pub(super) const SCHEMA: u32 = 1;

    pub(super) fn table(&self) -> String {
        let unknown = || "unknown".to_owned();
        let mut rows = vec![
            ("guest", self.guest()),
            ("kernel", self.environment.kernel.clone()),
            ("cpu", self.environment.cpu_model.clone().unwrap_or_else(unknown)),
            ("clock", self.environment.clock_source.clone().unwrap_or_else(unknown)),
            ("boot", self.boot()),
        ];
        rows.extend(self.network.iter().flat_map(Network::rows));
        rows.extend(self.probes.iter().map(|probe| ("probe", self.probe(probe))));
        rows.iter().map(|(name, text)| format!("{name:<8}{text}\n")).collect()
    }

    fn guest(&self) -> String {
        let Guest { monitor, board, vcpus, memory } = &self.vm;
        let reason = self.emulated_reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        let run_by = match self.accelerator {
            "tcg" => format!("emulated, so its times are not comparable with hardware{reason}"),
            _ => "using hardware virtualisation (KVM)".to_owned(),
        };
        let plural = if *vcpus == 1 { "" } else { "s" };
        let kind = board.map_or_else(|| monitor.word(), Board::word);
        format!("{kind} with {vcpus} CPU{plural} and {memory}, {run_by}")
    }

    fn boot(&self) -> String {
        let ready = Duration::from(self.ready_within).as_secs_f64();
        let again = if self.hung_starts > 0 { ", on the second attempt (the first hung)" } else { "" };
        let Some(booted) = self.booted_within.map(Duration::from) else {
            return format!("agent ready after {ready:.2} s{again}");
        };
        let booted = booted.as_secs_f64();
        let share = ready / booted;
        format!("init after {booted:.2} s, agent ready after {ready:.2} s ({share:.2}x){again}")
    }

    fn probe(&self, probe: &str) -> String {
        let missing = self.missing_probes.iter().find(|missing| missing.probe.word() == probe);
        missing.map_or_else(
            || format!("{probe} works"),
            |missing| format!("{probe} is unavailable: {}", missing.reason),
        )
    }
}

impl Network {
    fn rows(&self) -> Vec<(&'static str, String)> {
        let moved = match self.monitor {
            _ if self.vhost => "the host kernel (vhost-net)",
            Monitor::Qemu => "QEMU",
            Monitor::Firecracker => "Firecracker",
        };
        let mut rows = vec![("packets", format!("handled by {moved}"))];
        for state in &self.devices {
            rows.push(("device", device(state)));
            rows.push(("on", offloads(state)));
            rows.extend(state.virtio.as_ref().map(|agreed| ("agreed", agreed.join(", "))));
        }
        rows
    }
}

fn device(state: &DeviceState) -> String {
    let both = |what: &str, number: Option<RxTx>| {
        number.map(|RxTx { rx, tx }| format!(", {what} {rx} in and {tx} out")).unwrap_or_default()
    };
    let DeviceState { device, kind, mtu, queues, rings, .. } = state;
    format!("{device}: {kind}, MTU {mtu}{}{}", both("queues", *queues), both("rings", *rings))
}

fn offloads(state: &DeviceState) -> String {
    let on = state.features.iter().filter(|(name, on)| {
        **on && ["segmentation", "checksum", "gro", "lro"].iter().any(|word| name.contains(word))
    });
    let on: Vec<&str> = on.map(|(name, _)| name.as_str()).collect();
    if on.is_empty() { "no offloads".to_owned() } else { on.join(", ") }
}
