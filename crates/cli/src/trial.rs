//! A single trial of `plumb client` or `plumb ping`, with the conditions before the trial and the results.

use std::{
    net::{IpAddr, SocketAddr},
    process,
    sync::Arc,
};

use ::workload::{Measurement, Placement, WorkloadSettings};
use analysis::Single;
use findings::SingleMeasurement;
use machine::{QuotaCounters, Throttling};
use probe::ProcessTimes;
use protocol::Subject;
use report::{Options, SingleFormat, View};
use samples::{
    Arm, CpuConsumer, CpuThrottling, CpuUsage, DeviceState, Environment, MachineCpu, PathCheck, PathCounters,
    ThreadCpu, UnixMillis, ValidityWarning,
};
use units::Nanos;
use watch::now;

use crate::{destination, own_counters::OwnCounters, program::TOOL};

/// Names of local processes that may be the server of the measurement. Virtual machines may be servers, too.
const SERVERS: [&str; 4] = ["plumb", "iperf3", "sockperf", "iperf"];
const MONITOR: &str = "firecracker";

#[derive(Clone)]
pub(crate) struct Trial {
    started: UnixMillis,
    peer: String,
    load: WorkloadSettings,
    placement: Placement,
    environment: Environment,
    devices: Vec<DeviceState>,
    processes: Option<Arc<ProcessTimes>>,
    quotas: Option<QuotaCounters>,
    own: Option<Arc<OwnCounters>>,
    counters: Option<PathCounters>,
}

impl Trial {
    pub(crate) fn begin(peer: String, load: WorkloadSettings, placement: Placement) -> Self {
        let environment = Environment { engine: Some(traffic::calibrate()), ..probe::environment() };
        Self {
            started: now(),
            peer,
            load,
            placement,
            environment,
            devices: Vec::new(),
            processes: None,
            quotas: None,
            own: None,
            counters: None,
        }
    }

    pub(crate) fn towards(self, peer: SocketAddr, from: Option<IpAddr>) -> Self {
        let device = topology::device_towards(peer, from).ok().flatten();
        let own = device.as_ref().and_then(|device| OwnCounters::of(&device.device)).map(Arc::new);
        Self { devices: device.into_iter().collect(), own, ..self }
    }

    pub(crate) fn with(self, load: WorkloadSettings) -> Self {
        Self { load, ..self }
    }

    pub(crate) fn now(&self) -> Self {
        let processes = ProcessTimes::from_now(subjects()).ok().map(Arc::new);
        let counters = self.own.as_ref().and_then(|own| own.read());
        Self { started: now(), processes, quotas: QuotaCounters::here(), counters, ..self.clone() }
    }

    pub(crate) const fn started(&self) -> UnixMillis {
        self.started
    }

    pub(crate) fn peer(&self) -> &str {
        &self.peer
    }

    pub(crate) const fn environment(&self) -> &Environment {
        &self.environment
    }

    pub(crate) fn devices(&self) -> &[DeviceState] {
        &self.devices
    }

    pub(crate) fn usable_cpus(&self) -> &[u32] {
        &self.environment.usable_cpus
    }

    pub(crate) fn load(&self) -> &WorkloadSettings {
        &self.load
    }

    pub(crate) fn placement(&self) -> &Placement {
        &self.placement
    }

    pub(crate) fn end(
        &self,
        measurement: Measurement,
        cpu: (MachineCpu, Vec<ThreadCpu>),
        interrupted: bool,
    ) -> samples::Trial {
        let processes = self.processes.as_ref().and_then(|times| Some(times.until_now().ok()?.processes));
        let throttled = self.throttled().into_iter().collect();
        let cpu = CpuUsage { machine: cpu.0, threads: cpu.1, processes, throttled, ..CpuUsage::default() };
        let mut warnings = lab::warnings(&self.load, &measurement, &cpu);
        warnings.extend(lab::disturbed(&cpu));
        // iperf3's receivers stop before they have read the whole stream, so sender and receiver usually report
        // different totals.
        warnings.retain(|warning| !matches!(warning, ValidityWarning::EndsDisagree { .. }));
        if interrupted {
            warnings.retain(|warning| !matches!(warning, ValidityWarning::OtherDuration { .. }));
            warnings.insert(0, self.interrupted(&measurement));
        }
        samples::Trial {
            index: 0,
            block: 0,
            result: String::new(),
            arm: Arm::Measure,
            started: self.started,
            measurement,
            cpu,
            devices: self.devices.clone(),
            path_check: PathCheck::default(),
            syscalls: Vec::new(),
            observed: None,
            counters: self.counted(),
            warnings,
            instructions: None,
            simultaneous: 0,
            discarded: Vec::new(),
        }
    }

    pub(crate) fn alone(&self, trial: &samples::Trial) -> SingleMeasurement {
        analysis::single_measurement(&Single {
            tool: TOOL,
            started: self.started,
            peer: &self.peer,
            load: &self.load,
            placement: &self.placement.to_string(),
            measurement: &trial.measurement,
            cpu: &trial.cpu,
            warnings: &trial.warnings,
            environment: Some(&self.environment),
            devices: &self.devices,
            counters: trial.counters.as_ref(),
        })
    }
}

impl Trial {
    fn throttled(&self) -> Option<CpuThrottling> {
        let Throttling { group, limit, periods, throttled, time } =
            QuotaCounters::here()?.since(self.quotas.as_ref()?)?;
        let (end, group) = ("client".to_owned(), group.display().to_string());
        Some(CpuThrottling { end, group, limit, periods, throttled, time: time.into() })
    }

    fn counted(&self) -> Option<PathCounters> {
        let after = self.own.as_ref()?.read()?;
        Some(lab::counters_between(self.counters.as_ref()?, &after, None))
    }

    fn interrupted(&self, measurement: &Measurement) -> ValidityWarning {
        let requested = self.load.kind().lasts();
        let measured = measurement.kind().lasted(Nanos(0)).unwrap_or_default();
        ValidityWarning::Interrupted { requested, measured }
    }
}

fn subjects() -> Vec<Subject> {
    let own = process::id();
    let others = probe::called(&SERVERS).into_iter().filter(|pid| *pid != own).collect();
    let monitors = probe::qemus().into_iter().map(|qemu| qemu.pid).chain(probe::called(&[MONITOR])).collect();
    let mut subjects = vec![
        Subject::of(CpuConsumer::Client, vec![own], false),
        Subject::of(CpuConsumer::Server, others, false),
    ];
    subjects.extend(probe::machine(&Subject::of(CpuConsumer::ServerVm, monitors, false)));
    subjects
}

pub(crate) fn summary(single: &SingleMeasurement, view: View) -> String {
    let options = Options { view: Some(view), ..destination::here() };
    report::render_single(single, SingleFormat::Terminal, &options)
}
