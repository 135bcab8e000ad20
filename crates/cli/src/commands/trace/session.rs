//! Runs probes and reads device counters.

use std::time::Instant;

use anyhow::{Context, Result};
use probe::{Probe, ProbeError, Slices, SoftnetReading};
use samples::{DeviceCounters, MissingProbe, ProbeKind, ProbeResults, SoftnetCounters};
use units::Bytes;

use super::{
    flags::{self, TraceArgs},
    target::Resolved,
};

pub(super) struct Probes {
    loaded: Vec<Box<dyn Probe>>,
    missing: Vec<MissingProbe>,
}

impl Probes {
    /// Fails if no probe can be loaded.
    pub(super) fn load(kinds: &[ProbeKind], fallback: Fallback) -> Result<Self> {
        let mut probes = Self { loaded: Vec::new(), missing: Vec::new() };
        let mut refused = None;
        for kind in kinds {
            match probe::probe(*kind) {
                Ok(probe) => probes.loaded.push(probe),
                Err(ProbeError::Unavailable { .. }) if fallback.stands_in(*kind) => {
                    probes.loaded.push(probe::ptrace_counter(Some(Slices::default())));
                }
                Err(error) if matches!(error, ProbeError::Unavailable { .. }) => {
                    let error = fallback.offered(*kind, error);
                    probes.missing.push(MissingProbe { probe: *kind, reason: error.to_string() });
                    refused = refused.or(Some(error));
                }
                Err(error) => return Err(error.into()),
            }
        }
        match refused {
            Some(error) if probes.loaded.is_empty() => Err(error).context("nothing can be traced here"),
            _ => Ok(probes),
        }
    }

    pub(super) fn missing(&self) -> &[MissingProbe] {
        &self.missing
    }

    pub(super) fn start(mut self, found: &Resolved) -> Result<Watching> {
        let watch = found.watch();
        for probe in &mut self.loaded {
            probe.start(&watch)?;
        }
        let (namespace, softnet) = (found.namespace, SoftnetReading::now());
        let devices = counters(namespace);
        Ok(Watching { probes: self, namespace, devices, softnet, since: Instant::now() })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fallback {
    /// The fallback is unavailable, because the target is not a list of processes.
    None,
    Possible,
    Asked,
}

impl Fallback {
    pub(super) fn of(args: &TraceArgs) -> Self {
        match args.how.fallback {
            Some(flags::Fallback::Ptrace) => Self::Asked,
            None if args.what.pid.is_empty() => Self::None,
            None => Self::Possible,
        }
    }

    fn stands_in(self, kind: ProbeKind) -> bool {
        self == Self::Asked && kind == ProbeKind::Syscalls
    }

    fn offered(self, kind: ProbeKind, error: ProbeError) -> ProbeError {
        match error {
            ProbeError::Unavailable { reason, remedy }
                if self == Self::Possible && kind == ProbeKind::Syscalls =>
            {
                let remedy = format!("{remedy}; or count them slowly with `--fallback ptrace`");
                ProbeError::Unavailable { reason, remedy }
            }
            other => other,
        }
    }
}

pub(super) struct Observations {
    pub(super) probes: Vec<ProbeKind>,
    pub(super) missing: Vec<MissingProbe>,
    pub(super) observed: ProbeResults,
    pub(super) devices: Vec<DeviceCounters>,
    pub(super) softnet: Option<SoftnetCounters>,
}

pub(super) struct Watching {
    probes: Probes,
    /// The target's network namespace, if it has only one.
    namespace: Option<u64>,
    devices: Vec<DeviceCounters>,
    softnet: Option<SoftnetReading>,
    since: Instant,
}

impl Watching {
    pub(super) fn now(&mut self) -> Result<Observations> {
        let mut observed = ProbeResults { elapsed: self.since.elapsed().into(), ..ProbeResults::default() };
        for probe in &mut self.probes.loaded {
            probe.read(&mut observed)?;
        }
        // Clear `end`, because a trace does not distinguish between client and server.
        observed.syscalls.iter_mut().for_each(|count| count.end = None);
        let now = counters(self.namespace);
        Ok(Observations {
            probes: self.probes.loaded.iter().map(|probe| probe.kind()).collect(),
            missing: self.probes.missing.clone(),
            observed,
            devices: now.iter().map(|device| passed(device, &self.devices)).collect(),
            softnet: SoftnetReading::now().zip(self.softnet).map(|(now, before)| now.since(&before)),
        })
    }

    pub(super) fn end(mut self) -> Result<Observations> {
        let elapsed = self.since.elapsed().into();
        self.probes.loaded.iter_mut().for_each(|probe| probe.stop());
        let mut observations = self.now()?;
        observations.observed.elapsed = elapsed;
        Ok(observations)
    }
}

fn counters(namespace: Option<u64>) -> Vec<DeviceCounters> {
    let Some(inode) = namespace else { return Vec::new() };
    let own = std::process::id();
    if probe::namespace_of(own) == Some(inode) {
        return probe::namespace_devices(own);
    }
    let inside = probe::in_namespace(inode);
    inside.first().map(|process| probe::namespace_devices(process.pid)).unwrap_or_default()
}

/// The counters of a new device start at 0.
fn passed(now: &DeviceCounters, before: &[DeviceCounters]) -> DeviceCounters {
    let zero = DeviceCounters::default();
    let before = before.iter().find(|device| device.device == now.device).unwrap_or(&zero);
    let bytes = |now: Bytes, before: Bytes| Bytes(now.0.saturating_sub(before.0));
    DeviceCounters {
        device: now.device.clone(),
        rx_packets: now.rx_packets.saturating_sub(before.rx_packets),
        rx_bytes: bytes(now.rx_bytes, before.rx_bytes),
        rx_dropped: now.rx_dropped.saturating_sub(before.rx_dropped),
        rx_errors: now.rx_errors.saturating_sub(before.rx_errors),
        tx_packets: now.tx_packets.saturating_sub(before.tx_packets),
        tx_bytes: bytes(now.tx_bytes, before.tx_bytes),
        tx_dropped: now.tx_dropped.saturating_sub(before.tx_dropped),
        tx_errors: now.tx_errors.saturating_sub(before.tx_errors),
        ..DeviceCounters::default()
    }
}
