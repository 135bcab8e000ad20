//! A trial on its own, as `plumb client` and `plumb ping` make one: what is known before it, and what it says
//! afterwards. Holds no formula: what a number means is found by `analysis`, what is doubtful by `lab`.

use std::net::{IpAddr, SocketAddr};

use ::load::{Load, Placement};
use analysis::Single;
use findings::Solo;
use jiff::Timestamp;
use report::{Options, SoloFormat};
use samples::{CpuUsage, DeviceState, Doubt, Environment, MachineCpu, Measurement, ThreadCpu, UnixMillis};

use crate::commands::TOOL;

/// What is known before the first byte.
pub(crate) struct Trial {
    started: UnixMillis,
    peer: String,
    load: Load,
    placement: Placement,
    environment: Environment,
    devices: Vec<DeviceState>,
}

impl Trial {
    /// Looks at the machine and the clock.
    pub(crate) fn begin(peer: String, load: Load, placement: Placement) -> Self {
        let environment = Environment { engine: Some(traffic::calibrate()), ..probe::environment() };
        let started = UnixMillis(Timestamp::now().as_millisecond());
        Self { started, peer, load, placement, environment, devices: Vec::new() }
    }

    /// The same with the device by which the peer is reached, where there is one and the kernel tells.
    pub(crate) fn towards(self, peer: SocketAddr, from: Option<IpAddr>) -> Self {
        let device = topology::device_towards(peer, from).ok().flatten();
        Self { devices: device.as_ref().map(of_this_machine).into_iter().collect(), ..self }
    }

    /// The same with the load as it was run.
    pub(crate) fn with(self, load: Load) -> Self {
        Self { load, ..self }
    }

    /// CPUs that this process may use.
    pub(crate) fn usable_cpus(&self) -> &[u32] {
        &self.environment.usable_cpus
    }

    pub(crate) fn load(&self) -> &Load {
        &self.load
    }

    pub(crate) fn placement(&self) -> &Placement {
        &self.placement
    }

    /// What can be said of it.
    pub(crate) fn end(
        &self,
        measurement: &Measurement,
        machine: MachineCpu,
        threads: Vec<ThreadCpu>,
    ) -> Solo {
        let cpu = CpuUsage { machine, threads };
        let mut doubts = lab::doubts(&self.load, measurement, &cpu);
        // Receivers of iperf3's protocol are told when to stop; they do not read to the end of a stream.
        doubts.retain(|doubt| !matches!(doubt, Doubt::EndsDisagree { .. }));
        analysis::solo(&Single {
            tool: TOOL,
            started: self.started,
            peer: &self.peer,
            load: &self.load,
            placement: &self.placement,
            measurement,
            cpu: &cpu,
            doubts: &doubts,
            environment: Some(&self.environment),
            devices: &self.devices,
        })
    }
}

/// A device as its own machine names it.
fn of_this_machine(state: &topology::DeviceState) -> DeviceState {
    DeviceState { device: state.at.device.to_string(), ..lab::device(state) }
}

/// The summary, as this terminal shows it best.
pub(crate) fn summary(solo: &Solo) -> String {
    let terminal = console::Term::stdout();
    let width = terminal.size_checked().map_or(100, |(_, columns)| usize::from(columns).clamp(60, 120));
    report::render_solo(solo, SoloFormat::Terminal, &Options { colour: console::colors_enabled(), width })
}
