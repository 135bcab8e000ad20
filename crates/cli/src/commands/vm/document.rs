//! What `plumb vm run` prints: as a table, or as it is. Must not know how it was found out.

use std::time::Duration;

use samples::{DeviceState, Environment, MissingProbe, RxTx};
use scenario::{Board, Monitor};
use serde::Serialize;
use units::{Bytes, Nanos};

/// What is printed.
#[derive(Debug, Serialize)]
pub(super) struct Document {
    /// The version of this form.
    pub(super) schema: u32,
    pub(super) vm: Guest,
    /// Its network, if it was given one.
    pub(super) network: Option<Network>,
    pub(super) accelerator: &'static str,
    /// Why the guest is emulated, if nobody asked for that.
    pub(super) emulated_because: Option<String>,
    /// From its monitor's start until the guest's first process ran, in nanoseconds.
    pub(super) booted_within: Option<Nanos>,
    /// From its monitor's start until the guest's agent had greeted, in nanoseconds.
    pub(super) ready_within: Nanos,
    /// How many boots before that hung.
    pub(super) hung_starts: u32,
    pub(super) environment: Environment,
    /// The probes that were tried.
    pub(super) probes: Vec<&'static str>,
    /// Those of them that cannot run in the guest.
    pub(super) missing_probes: Vec<MissingProbe>,
}

/// What was asked for of the machine itself.
#[derive(Debug, Serialize)]
pub(super) struct Guest {
    pub(super) monitor: Monitor,
    /// Where its monitor has more than one.
    pub(super) board: Option<Board>,
    pub(super) vcpus: u32,
    pub(super) memory: Bytes,
}

/// A guest's network device.
#[derive(Debug, Serialize)]
pub(super) struct Network {
    #[serde(skip)]
    pub(super) monitor: Monitor,
    /// Whether the host's kernel moves its packets.
    pub(super) vhost: bool,
    /// The device as the guest's kernel has it, and the tap device as the host's has it.
    pub(super) devices: Vec<DeviceState>,
}

impl Document {
    /// The version of the form: 2 has the network device and no settings of one that is not there.
    pub(super) const SCHEMA: u32 = 2;

    /// As a table.
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
        let because = self.emulated_because.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
        let run_by = match self.accelerator {
            "tcg" => format!("emulated, so that its times do not compare with hardware{because}"),
            _ => "run by the CPU's virtualisation (KVM)".to_owned(),
        };
        let plural = if *vcpus == 1 { "" } else { "s" };
        let kind = board.map_or_else(|| monitor.word(), Board::word);
        format!("{kind} with {vcpus} CPU{plural} and {memory}, {run_by}")
    }

    fn boot(&self) -> String {
        let ready = Duration::from(self.ready_within).as_secs_f64();
        let again = if self.hung_starts > 0 { ", at the second attempt: the first hung" } else { "" };
        let Some(booted) = self.booted_within.map(Duration::from) else {
            return format!("agent ready after {ready:.2} s{again}");
        };
        let booted = booted.as_secs_f64();
        let share = ready / booted;
        format!("first process after {booted:.2} s, agent ready after {ready:.2} s ({share:.2}x){again}")
    }

    fn probe(&self, probe: &str) -> String {
        let missing = self.missing_probes.iter().find(|missing| missing.probe.word() == probe);
        missing.map_or_else(
            || format!("{probe} runs"),
            |missing| format!("{probe} does not: {}", missing.because),
        )
    }
}

impl Network {
    fn rows(&self) -> Vec<(&'static str, String)> {
        let moved = match self.monitor {
            _ if self.vhost => "the host's kernel (vhost-net)",
            Monitor::Qemu => "QEMU",
            Monitor::Firecracker => "Firecracker",
        };
        let mut rows = vec![("packets", format!("moved by {moved}"))];
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

/// The features that are on, of those that are offloads of what is sent or received.
fn offloads(state: &DeviceState) -> String {
    let on = state.features.iter().filter(|(name, on)| {
        **on && ["segmentation", "checksum", "gro", "lro"].iter().any(|word| name.contains(word))
    });
    let on: Vec<&str> = on.map(|(name, _)| name.as_str()).collect();
    if on.is_empty() { "no offload".to_owned() } else { on.join(", ") }
}
