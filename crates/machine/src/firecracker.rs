//! Firecracker virtual machines. The agent is the guest's first process and uses a virtual socket as its
//! channel.

mod api;
mod error;
mod guest_stream;
mod requests;
mod tap;

use std::{
    io::PipeReader,
    os::{fd::OwnedFd, unix::net::UnixListener},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use command_fds::{CommandFdExt, FdMapping};
use scenario::{HostName, Vm};
use sys::MemoryFolder;
use units::Bytes;

pub use api::ApiError;
pub use error::FirecrackerError;
pub use tap::NamedTap;

use self::{api::Api, guest_stream::GuestStream, requests::Descriptor};
use crate::{
    Boot, Condition, Machine,
    channel::Channel,
    error::MachineError,
    guest::{Image, Vmlinux},
    last_lines::LastLines,
};

pub(crate) const PROGRAM: &str = "firecracker";
const API_FILE: &str = "api.sock";
/// Suppresses a warning printed whenever a guest connects to an unused port.
const LOG_LEVEL: &str = "Error";
/// Every kernel booted with `pci=off` prints this.
const NO_PCI_MESSAGE: &str = "PCI: Fatal: No config space access function found";

#[derive(Debug)]
pub struct Firecracker {
    host: HostName,
    vm: Vm,
    program: PathBuf,
    kernel: Arc<Vmlinux>,
    image: Arc<Image>,
    tap: Option<NamedTap>,
    running: Option<Running>,
    words: LastLines,
}

#[derive(Debug)]
struct Running {
    child: Child,
    started: Instant,
    first_process: Arc<OnceLock<Instant>>,
}

struct Instance {
    child: Child,
    ended: PipeReader,
}

impl Firecracker {
    pub const MODULES: &'static [&'static str] = &["virtio_mmio", "vmw_vsock_virtio_transport", "virtio_net"];

    pub const LEAST_MEMORY: Bytes = Vm::LEAST_MEMORY;

    #[must_use]
    pub fn new(host: HostName, vm: Vm, kernel: Arc<Vmlinux>, image: Arc<Image>) -> Self {
        let (program, words) = (PROGRAM.into(), LastLines::default());
        Self { host, vm, program, kernel, image, tap: None, running: None, words }
    }

    #[must_use]
    pub fn program(mut self, program: Option<PathBuf>) -> Self {
        self.program = program.unwrap_or_else(|| PROGRAM.into());
        self
    }

    #[must_use]
    pub fn with_tap(mut self, tap: NamedTap) -> Self {
        self.tap = Some(tap);
        self
    }

    /// Returns why `program` cannot run guests, e.g. because KVM is unavailable. This takes up to 10 s.
    #[must_use]
    pub fn unusable(program: Option<&Path>) -> Option<FirecrackerError> {
        let installed = Self::version(program).map(drop);
        installed.and_then(|()| sys::kvm::try_run().map_err(FirecrackerError::NoKvm)).err()
    }

    pub fn version(program: Option<&Path>) -> Result<String, FirecrackerError> {
        let program = program.unwrap_or(Path::new(PROGRAM));
        let mut command = crate::without_environment(program);
        command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let child = start(&mut command, None, program)?;
        let output = child.wait_with_output()?.stdout;
        let output = String::from_utf8_lossy(&output);
        let first = output.lines().next().filter(|line| line.starts_with("Firecracker "));
        first.map(str::to_owned).ok_or_else(|| FirecrackerError::Other { program: program.to_owned() })
    }

    fn run(&self) -> Result<(Running, GuestStream), FirecrackerError> {
        if self.vm.memory < Self::LEAST_MEMORY {
            return Err(FirecrackerError::TooLittleMemory {
                asked: self.vm.memory,
                least: Self::LEAST_MEMORY,
            });
        }
        let folder = MemoryFolder::create("for Firecracker's sockets")?;
        let listener = UnixListener::bind(folder.path(&requests::host_socket()))?;
        let started = Instant::now();
        let Instance { mut child, ended } = self.spawn(&folder)?;
        self.words.keep(child.stderr.take().expect("it is a pipe"), |line| !line.is_empty());
        let console = child.stdout.take().expect("it is a pipe");
        let first_process = self.words.keep_console(console, NO_PCI_MESSAGE);
        let stream = GuestStream::awaited(listener, ended);
        match self.boot(&folder, &mut child) {
            Ok(()) => Ok((Running { child, started, first_process }, stream)),
            Err(source) => {
                let status = end(&mut child).and_then(|status| status.code());
                let words = self.words.text();
                // The API error is more useful than the exit status, and processes killed here have no exit status.
                Err(match (status, &source) {
                    (_, ApiError::Refused { .. }) | (None, _) => FirecrackerError::Api { source, words },
                    (Some(status), _) => FirecrackerError::Ended { status, words },
                })
            }
        }
    }

    fn spawn(&self, folder: &MemoryFolder) -> Result<Instance, FirecrackerError> {
        let (ended, life) = std::io::pipe()?;
        let inherited: [(Descriptor, OwnedFd); 4] = [
            (Descriptor::Kernel, self.kernel.file().try_clone()?.into()),
            (Descriptor::Image, self.image.file().try_clone()?.into()),
            (Descriptor::Folder, folder.descriptor()?.into()),
            (Descriptor::Life, life.into()),
        ];
        let mut command = crate::without_environment(&self.program);
        command.arg("--api-sock").arg(requests::in_folder(API_FILE)).args(["--level", LOG_LEVEL]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mappings =
            inherited.into_iter().map(|(child, parent_fd)| FdMapping { parent_fd, child_fd: child as i32 });
        command.fd_mappings(mappings.collect()).expect("descriptor numbers are unique");
        let namespace = self.tap.as_ref().map(|tap| &tap.namespace);
        // Dropping the command closes this process's copies of the descriptors, which would keep the pipe
        // open.
        Ok(Instance { child: start(&mut command, namespace, &self.program)?, ended })
    }

    fn boot(&self, folder: &MemoryFolder, child: &mut Child) -> Result<(), ApiError> {
        let mut api = Api::connect(&folder.path(API_FILE), || matches!(child.try_wait(), Ok(None)))?;
        for (path, body) in requests::to_boot(&self.vm, self.tap.as_ref()) {
            api.put(&path, &body)?;
        }
        Ok(())
    }
}

impl Machine for Firecracker {
    fn start(&mut self) -> Result<Channel, MachineError> {
        if self.running.is_some() {
            return Err(MachineError::Started { host: self.host.to_string() });
        }
        let refused = |source| MachineError::Firecracker { host: self.host.to_string(), source };
        let (running, stream) = self.run().map_err(refused)?;
        self.running = Some(running);
        let (from_agent, to_agent) = stream.halves();
        Ok(Channel { from_agent: Box::new(from_agent), to_agent: Box::new(to_agent) })
    }

    fn pids(&self) -> Vec<u32> {
        self.running.iter().map(|running| running.child.id()).collect()
    }

    fn stop(&mut self) {
        if let Some(mut running) = self.running.take() {
            end(&mut running.child);
        }
    }

    /// A guest boots within 1 s, or within 3 s if KVM itself is emulated. Several such guests with several
    /// CPUs slow each other down.
    fn boot(&self) -> Boot {
        let patience = Duration::from_secs(50 + 10 * u64::from(self.vm.vcpus));
        Boot { patience, own_kernel: true, may_hang: false }
    }

    fn guest_kernel(&self) -> Option<&str> {
        Some(self.kernel.release())
    }

    fn condition(&self) -> Condition {
        let booted = |running: &Running| Some(running.first_process.get()?.duration_since(running.started));
        Condition {
            booted_within: self.running.as_ref().and_then(booted),
            trouble: None,
            last_output: self.words.text(),
        }
    }
}

impl Drop for Firecracker {
    fn drop(&mut self) {
        self.stop();
    }
}

fn start(
    command: &mut Command,
    namespace: Option<&sys::netns::NetNs>,
    program: &Path,
) -> Result<Child, FirecrackerError> {
    sys::child::spawn_in(command, namespace, &program.display().to_string())
        .map_err(|error| FirecrackerError::of_start(error, program))
}

fn end(child: &mut Child) -> Option<ExitStatus> {
    // Fails only if the process has already exited.
    let _ = child.kill();
    child.wait().ok()
}
