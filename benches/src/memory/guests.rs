//! Guests with two memory tiers. The slow tier is a second node, which here is as fast as the first.
//!
//! This binary is also the guests' first process, which runs the agent and the program. Both share one channel, where
//! lines that begin with [`MARK`] belong to the program.

use std::{
    env,
    fs::File,
    io::{self, BufRead, BufReader, Read, Write, stdin, stdout},
    process::{self, Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Receiver},
    },
    thread,
    time::Duration,
};

use anyhow::Context;
use machine::{Accelerator, Channel, HostPolicy, Image, Kernel, Machine, Qemu};
use memory::{AgentLink, AttachedVm, RunningVm, VmAccess};
use protocol::{AccessClass, AccessSourceKind};
use scenario::{HostName, Vm};
use units::{Bytes, Share};
use workload::BalloonMethod;

use super::program::{self, AccessPattern, Accesses, NodeAccesses, Order, PatternShape};

pub(crate) const MARK: char = '!';
pub(crate) const MIB: u64 = 1 << 20;
const SLOW: u32 = 1;
/// Half of this belongs to a virtio-mem device.
pub(crate) const FAST_MEMORY: Bytes = Bytes(256 * MIB);
pub(crate) const SLOW_MEMORY: Bytes = Bytes(256 * MIB);
pub(crate) const FLOOR: Bytes = Bytes(128 * MIB);
pub(crate) const PROGRAM: Bytes = Bytes(160 * MIB);
pub(crate) const INTERVAL: Duration = Duration::from_secs(5);
const RATE: u64 = 30_000;

const INIT: &str = "/init";
const ARGUMENT: &str = "--accesses";
const SELF: &str = "/proc/self/exe";
const TOOL: &str = env!("CARGO_PKG_VERSION");
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) fn in_guest() -> Option<anyhow::Result<()>> {
    let mut words = env::args();
    if process::id() == 1 && words.next().is_some_and(|name| name == INIT) {
        return Some(agent::run_as_first_process(obey));
    }
    (env::args().nth(1).as_deref() == Some(ARGUMENT)).then(|| program::run(stdin(), stdout()))
}

fn obey(input: File, output: File) -> anyhow::Result<()> {
    let copy = output.try_clone().context("duplicate the channel")?;
    let mut program = Command::new(SELF);
    program.arg(ARGUMENT).stdin(Stdio::piped()).stdout(copy);
    let mut program = program.spawn().context("start the program")?;
    let mut to_program = program.stdin.take().expect("piped");
    let (to_agent, mut from_host) = io::pipe().context("create a pipe")?;
    thread::spawn(move || split(input, &mut from_host, |order| to_program.write_all(order.as_bytes())));
    agent::run(to_agent, output, TOOL, &HostPolicy::default())
}

fn split(
    from: impl Read,
    agent: &mut impl Write,
    mut program: impl FnMut(&str) -> io::Result<()>,
) -> io::Result<()> {
    let mut from = BufReader::new(from);
    let mut line = String::new();
    while from.read_line(&mut line)? > 0 {
        match line.strip_prefix(MARK) {
            Some(rest) => program(rest)?,
            None => agent.write_all(line.as_bytes())?,
        }
        line.clear();
    }
    Ok(())
}

pub(crate) struct Guests {
    kernel: Kernel,
    accelerator: Accelerator,
    image: Arc<Image>,
}

pub(crate) struct Guest {
    pub(crate) vm: AttachedVm,
    pub(crate) program: Program,
    pub(crate) machine: Qemu,
}

impl Guests {
    pub(crate) fn new() -> anyhow::Result<Self> {
        let kernel = Kernel::installed()?;
        let modules = Qemu::MODULES.iter().chain(Qemu::modules_of(BalloonMethod::VirtioMem));
        let modules: Vec<&str> = modules.copied().collect();
        let image = Image::build(&kernel, SELF.as_ref(), &modules, &[])?;
        Ok(Self { kernel, accelerator: Accelerator::best().0, image: Arc::new(image) })
    }

    pub(crate) fn boot(&self, name: &str, source: AccessSourceKind) -> anyhow::Result<Guest> {
        self.try_boot(name, source).or_else(|_| self.try_boot(name, source))
    }

    fn try_boot(&self, name: &str, source: AccessSourceKind) -> anyhow::Result<Guest> {
        let vm = Vm {
            memory: FAST_MEMORY,
            slow: SLOW_MEMORY,
            balloon: Some(BalloonMethod::VirtioMem),
            ..Vm::default()
        };
        let host = HostName::new(name);
        let mut machine = Qemu::new(host, vm, self.accelerator, self.kernel.clone(), Arc::clone(&self.image));
        let channel = machine.start()?;
        let (from_agent, mut to_link) = io::pipe()?;
        let (to_us, replies) = mpsc::channel();
        thread::spawn(move || {
            let reply = |line: &str| to_us.send(line.to_owned()).map_err(io::Error::other);
            split(channel.from_agent, &mut to_link, reply)
        });
        let to_guest = Shared(Arc::new(Mutex::new(channel.to_agent)));
        let program = Program { to_guest: to_guest.clone(), replies };
        let (pid, patience) = (machine.pids().first().copied(), machine.boot().patience);
        let channel = Channel { from_agent: Box::new(from_agent), to_agent: Box::new(to_guest) };
        let link = AgentLink::over(channel, TOOL, pid, patience)?;
        let monitor = machine.take_monitor().context("the guest has no monitor")?;
        let access = VmAccess { source, slow: vec![SLOW], tool: TOOL.to_owned(), ..VmAccess::default() };
        let vm = RunningVm::attach((monitor, pid), Some(link), &access, INTERVAL)?;
        let vm = AttachedVm::of(vm, access, true, INTERVAL)?;
        Ok(Guest { vm, program, machine })
    }
}

#[derive(Clone)]
struct Shared(Arc<Mutex<Box<dyn Write + Send>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write_all(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).flush()
    }
}

pub(crate) struct Program {
    to_guest: Shared,
    replies: Receiver<String>,
}

pub(crate) struct Truth {
    pub(crate) hits: Option<Share>,
    pub(crate) on_fast: Bytes,
    pub(crate) hottest: Vec<AccessClass>,
}

impl Program {
    pub(crate) fn set(&mut self, shape: PatternShape, prefers: Option<u32>) -> anyhow::Result<()> {
        let pattern = AccessPattern { memory: PROGRAM, shape, rate: RATE, prefers };
        self.ask(&Order::Pattern(pattern)).map(drop)
    }

    pub(crate) fn truth(&mut self) -> anyhow::Result<Truth> {
        let Accesses { nodes, hottest } = self.ask(&Order::Report)?;
        let fast = |node: &&NodeAccesses| node.node != SLOW;
        let all: u64 = nodes.iter().map(|node| node.accesses).sum();
        let hits: u64 = nodes.iter().filter(fast).map(|node| node.accesses).sum();
        let hits = (all > 0).then(|| Share(hits as f64 / all as f64));
        Ok(Truth { hits, on_fast: nodes.iter().filter(fast).map(|node| node.bytes).sum(), hottest })
    }

    fn ask(&mut self, order: &Order) -> anyhow::Result<Accesses> {
        let line = format!("{MARK}{}\n", serde_json::to_string(order)?);
        self.to_guest.write_all(line.as_bytes()).context("send a command to the program in the guest")?;
        self.to_guest.flush()?;
        let reply = self.replies.recv_timeout(PATIENCE).context("the program in the guest does not reply")?;
        Ok(serde_json::from_str(&reply)?)
    }
}

pub(crate) fn served(classes: &[AccessClass], bytes: f64) -> f64 {
    let mut classes: Vec<(f64, f64)> =
        classes.iter().map(|class| (class.bytes.0 as f64, class.accesses as f64)).collect();
    classes.sort_by(|one, other| (other.1 * one.0).total_cmp(&(one.1 * other.0)));
    let all: f64 = classes.iter().map(|(_, accesses)| accesses).sum();
    let (mut left, mut hits) = (bytes, 0.0);
    for (size, accesses) in classes.into_iter().filter(|(size, _)| *size > 0.0) {
        let part = (left / size).clamp(0.0, 1.0);
        hits += accesses * part;
        left -= size * part;
    }
    if all > 0.0 { hits / all } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hottest_memory_is_served_first() {
        let class = |bytes: u64, accesses: u64| AccessClass { bytes: Bytes(bytes), accesses };
        let classes = [class(300, 10), class(100, 90)];
        let share = |bytes: f64| served(&classes, bytes);
        assert_eq!([share(50.0), share(100.0), share(250.0), share(1e9)], [0.45, 0.9, 0.95, 1.0]);
        assert_eq!(served(&[], 5.0), 0.0);
    }

    #[test]
    fn marked_lines_go_to_the_program_and_others_to_the_agent() {
        let (mut agent, mut program) = (Vec::new(), String::new());
        let copied = split(&b"one\n!two\nthree!\n!four"[..], &mut agent, |line| {
            program.push_str(line);
            Ok(())
        });
        copied.expect("vectors");
        assert_eq!((agent.as_slice(), program.as_str()), (&b"one\nthree!\n"[..], "two\nfour"));
    }
}
