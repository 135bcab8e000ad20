//! QEMU virtual machines. The agent is the guest's first process and uses a virtio-serial port as its
//! channel.

mod accelerator;
mod arguments;
mod confinement;
mod error;
mod instance;
mod monitor;
mod nic;
mod pinning;
mod qmp;
mod write_half;

use std::{
    os::{fd::OwnedFd, unix::net::UnixStream},
    process::{ExitStatus, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use command_fds::{CommandFdExt, FdMapping};
use scenario::{HostName, Vm};
use workload::BalloonMethod;

pub use accelerator::Accelerator;
pub use arguments::BALLOON;
pub use error::QemuError;
pub use monitor::{Monitor, MonitorError, MonitorSays, NicSays};
pub use nic::Nic;

use self::{
    arguments::Descriptor,
    instance::{Running, end},
    qmp::Qmp,
    write_half::HangsUp,
};
use crate::{
    Boot, Condition, Machine,
    channel::Channel,
    error::MachineError,
    guest::{Image, Kernel},
    instruction_counter::CounterPlugin,
    last_lines::LastLines,
};

pub(crate) const PROGRAM: &str = "qemu-system-x86_64";
/// Marks uncertain entries of a kernel stack trace. Most lines of a panic are such entries.
const UNSURE: &str = "]  ? ";
/// QEMU prints this for every CPU feature that it does not emulate.
const NO_CPU_FEATURE: &str = "TCG doesn't support requested feature";

struct Started {
    running: Running,
    agent: UnixStream,
    monitor: Option<Monitor>,
}

#[derive(Debug)]
pub struct Qemu {
    host: HostName,
    vm: Vm,
    accelerator: Accelerator,
    kernel: Kernel,
    image: Arc<Image>,
    nic: Option<Nic>,
    monitor: Option<Monitor>,
    /// The kernel parameters of a virtual hypervisor.
    nested: Option<String>,
    counter: Option<CounterPlugin>,
    running: Option<Running>,
    words: LastLines,
}

impl Qemu {
    pub const MODULES: &'static [&'static str] =
        &["virtio_pci", "virtio_mmio", "virtio_console", "virtio_net"];

    #[must_use]
    pub const fn modules_of(method: BalloonMethod) -> &'static [&'static str] {
        match method {
            BalloonMethod::VirtioBalloon => &["virtio_balloon"],
            BalloonMethod::VirtioMem => &["virtio_mem"],
            BalloonMethod::Agent => &[],
        }
    }

    #[must_use]
    pub fn new(host: HostName, vm: Vm, accelerator: Accelerator, kernel: Kernel, image: Arc<Image>) -> Self {
        let words = LastLines::default();
        Self {
            host,
            vm,
            accelerator,
            kernel,
            image,
            nic: None,
            monitor: None,
            nested: None,
            counter: None,
            running: None,
            words,
        }
    }

    #[must_use]
    pub fn with_nic(mut self, nic: Nic) -> Self {
        self.nic = Some(nic);
        self
    }

    #[must_use]
    pub(crate) fn with_nested_run(mut self, parameters: String) -> Self {
        self.nested = Some(parameters);
        self
    }

    /// The guest then executes one instruction per nanosecond of its own time.
    #[must_use]
    pub(crate) fn with_counter(mut self, plugin: CounterPlugin) -> Self {
        self.counter = Some(plugin);
        self
    }

    pub fn version() -> Result<String, QemuError> {
        let mut command = crate::without_environment(PROGRAM);
        command.arg("-version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let child = sys::child::spawn_in(&mut command, None, PROGRAM).map_err(QemuError::of_start)?;
        let output = child.wait_with_output()?.stdout;
        Ok(String::from_utf8_lossy(&output).lines().next().unwrap_or_default().to_owned())
    }

    fn run(&self) -> Result<Started, QemuError> {
        if self.vm.memory < Vm::LEAST_MEMORY {
            return Err(QemuError::TooLittleMemory { asked: self.vm.memory, least: Vm::LEAST_MEMORY });
        }
        let [agent, qmp, console] = [UnixStream::pair()?, UnixStream::pair()?, UnixStream::pair()?];
        let memory = self.vm.balloon.map(|_| UnixStream::pair()).transpose()?;
        let (monitor, of_monitor) = memory.unzip();
        let mut inherited = vec![
            (Descriptor::Image as i32, self.image.file().try_clone()?.into()),
            (Descriptor::Agent as i32, agent.1.into()),
            (Descriptor::Qmp as i32, qmp.1.into()),
            (Descriptor::Console as i32, console.1.into()),
        ];
        inherited.extend(of_monitor.map(|end| (Descriptor::Memory as i32, end.into())));
        if let Some(plugin) = &self.counter {
            let numbers = [Descriptor::Plugin as i32, Descriptor::Counts as i32];
            inherited.extend(numbers.into_iter().zip(plugin.descriptors()?));
        }
        self.inherit_queues(&mut inherited)?;
        let mut command = crate::without_environment(PROGRAM);
        command
            .args(arguments::build(self))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mappings = inherited.into_iter().map(|(child_fd, parent_fd)| FdMapping { parent_fd, child_fd });
        command.fd_mappings(mappings.collect()).expect("descriptor numbers are unique");
        let started = Instant::now();
        let confines = confinement::prepare(self).map_err(QemuError::Start)?;
        let mut child =
            sys::child::spawn_confined(command, confines, PROGRAM).map_err(QemuError::of_start)?;
        self.words.keep(child.stderr.take().expect("it is a pipe"), |line| !line.contains(NO_CPU_FEATURE));
        let first_process = self.words.keep_console(console.0, UNSURE);
        match self.connect_monitor(qmp.0, child.id()) {
            Ok(qmp) => {
                let running = Running::new(child, qmp, started, first_process);
                match monitor.map(Monitor::greeted).transpose() {
                    Ok(monitor) => Ok(Started { running, agent: agent.0, monitor }),
                    Err(error) => {
                        running.stop();
                        Err(QemuError::MemoryMonitor(error))
                    }
                }
            }
            Err(error) => Err(self.explain(error, end(&mut child))),
        }
    }

    fn inherit_queues(&self, inherited: &mut Vec<(i32, OwnedFd)>) -> Result<(), QemuError> {
        let queues = self.nic.iter().flat_map(|nic| &nic.queues);
        for (number, queue) in (Descriptor::FirstQueue as i32..).zip(queues) {
            // If the previous guest hung, all queues except the first are detached.
            sys::tap::attach(queue).map_err(QemuError::Start)?;
            inherited.push((number, queue.try_clone()?.into()));
        }
        Ok(())
    }

    fn connect_monitor(&self, socket: UnixStream, pid: u32) -> Result<Qmp, QemuError> {
        let mut qmp = Qmp::greet(socket, &self.words)
            .map_err(|source| QemuError::Monitor { source, words: String::new() })?;
        pinning::pin(pid, &mut qmp, &self.vm)?;
        Ok(qmp)
    }

    fn explain(&self, error: QemuError, status: Option<ExitStatus>) -> QemuError {
        let QemuError::Monitor { source, .. } = error else { return error };
        let words = self.words.text();
        // A process killed here has no exit status.
        match status.and_then(|status| status.code()) {
            Some(status) => QemuError::Ended { status, words },
            None => QemuError::Monitor { source, words },
        }
    }
}

impl Machine for Qemu {
    fn start(&mut self) -> Result<Channel, MachineError> {
        if self.running.is_some() {
            return Err(MachineError::Started { host: self.host.to_string() });
        }
        let refused = |source| MachineError::Qemu { host: self.host.to_string(), source };
        self.words = LastLines::default();
        let Started { running, agent, monitor } = self.run().map_err(refused)?;
        self.monitor = monitor;
        let to_agent = agent.try_clone().map_err(|error| refused(error.into()))?;
        self.running = Some(running);
        Ok(Channel { from_agent: Box::new(agent), to_agent: Box::new(HangsUp::new(to_agent)) })
    }

    fn pids(&self) -> Vec<u32> {
        self.running.iter().map(Running::pid).collect()
    }

    fn take_monitor(&mut self) -> Option<Monitor> {
        self.monitor.take()
    }

    fn stop(&mut self) {
        self.monitor = None;
        if let Some(running) = self.running.take() {
            running.stop();
        }
    }

    fn guest_kernel(&self) -> Option<&str> {
        Some(self.kernel.release())
    }

    /// On an idle machine, an emulated guest with one CPU boots in 3 to 4 s, and each additional CPU adds
    /// less than 1 s. With KVM, a guest boots within 1 s, or within 6 s in an emulated hypervisor.
    fn boot(&self) -> Boot {
        let least = match self.accelerator {
            Accelerator::Tcg if self.nested.is_none() => 25,
            Accelerator::Tcg => 60,
            Accelerator::Kvm => 180,
        };
        let patience = Duration::from_secs(least + u64::from(self.vm.vcpus));
        Boot { patience, own_kernel: true, may_hang: true }
    }

    fn condition(&self) -> Condition {
        let trouble = self.running.as_ref().and_then(Running::trouble);
        let words = [Some(self.words.text()).filter(|words| !words.is_empty()), trouble.clone()];
        Condition {
            booted_within: self.running.as_ref().and_then(Running::booted_within),
            trouble,
            last_output: words.into_iter().flatten().collect::<Vec<_>>().join("\n"),
        }
    }
}

impl Drop for Qemu {
    fn drop(&mut self) {
        self.stop();
    }
}
