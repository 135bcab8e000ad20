//! The exact probe: reads CPU time by owner from BPF programs.

use samples::{AttributedCpu, AttributionSource, CpuConsumer, MachineCpu, ProbeKind, ProbeResults};
use units::Nanos;

use super::{
    add_result,
    kernel::{FIRST_UNNAMED, Kernel, Name, TAGS, WAKING},
    machine,
    names::{ConsumerName, Names},
    not_started,
    shares::shares,
    sums::Sums,
};
use crate::{
    bpf::Subjects,
    cpu::CpuReading,
    observe::{Probe, ProbeError, Watch},
};

pub(super) struct KernelSums {
    kernel: Kernel,
    consumers: Vec<CpuConsumer>,
    state: State,
}

enum State {
    Idle,
    Running(Reading),
    Stopped(Result<(AttributedCpu, u64), ProbeError>),
}

struct Reading {
    sums: Vec<Sums>,
    machine: CpuReading,
}

/// The time limit for reading the kernel's sums, in nanoseconds. The same time is added for each CPU. After a
/// slower reading, /proc/stat and the sums are read again.
const CLOSE: u64 = 1_000_000;
const TRIES: u32 = 20;
/// After this many nanoseconds, no reading is repeated, because repeats on a slow machine only add work.
const LONGEST: u64 = 20_000_000;

impl Reading {
    fn now(kernel: &mut Kernel) -> Result<Self, ProbeError> {
        let (mut tries, first) = (0, sys::clock::monotonic());
        loop {
            let machine = machine::exact_reading()?;
            let begun = sys::clock::monotonic();
            let reading = Self { sums: kernel.sums()?, machine };
            let ended = sys::clock::monotonic();
            let took = ended - begun;
            tries += 1;
            if tries == TRIES || ended - first > LONGEST || took < CLOSE * (1 + reading.sums.len() as u64) {
                return Ok(reading);
            }
        }
    }

    fn since(self, earlier: &Self) -> (Vec<Sums>, MachineCpu) {
        let sums = self.sums.into_iter().zip(&earlier.sums).map(|(now, then)| now.since(then)).collect();
        (sums, self.machine.since(&earlier.machine))
    }
}

impl KernelSums {
    pub(super) fn new() -> Result<Self, ProbeError> {
        Ok(Self { kernel: Kernel::load()?, consumers: Vec::new(), state: State::Idle })
    }

    fn measured(&mut self) -> Result<(AttributedCpu, u64), ProbeError> {
        let now = Reading::now(&mut self.kernel)?;
        let (sums, machine) = match &self.state {
            State::Running(before) => now.since(before),
            _ => return Err(not_started()),
        };
        let names = self.kernel.names()?;
        let stolen = sums.iter().map(|cpu| cpu.stolen).sum();
        let measured = AttributedCpu {
            source: AttributionSource::Traced,
            reason: None,
            elapsed: machine.elapsed,
            cpus: machine.cpus,
            busy: machine::busy(&machine, Nanos(stolen)),
            steal: machine.steal,
            shares: shares(times(&sums, &names, &self.consumers)),
        };
        Ok((measured, self.kernel.unnamed()?))
    }
}

impl Probe for KernelSums {
    fn kind(&self) -> ProbeKind {
        ProbeKind::Cpu
    }

    fn start(&mut self, watch: &Watch) -> Result<(), ProbeError> {
        self.state = State::Idle;
        self.consumers = consumers(watch);
        self.kernel.start(&subjects(watch, &self.consumers))?;
        self.state = State::Running(Reading::now(&mut self.kernel)?);
        Ok(())
    }

    fn read(&mut self, measured: &mut ProbeResults) -> Result<(), ProbeError> {
        let found = match &self.state {
            State::Running(_) => self.measured()?,
            State::Stopped(measured) => measured.clone()?,
            State::Idle => return Err(not_started()),
        };
        add_result(found, measured);
        Ok(())
    }

    fn stop(&mut self) {
        if matches!(self.state, State::Running(_)) {
            self.state = State::Stopped(self.measured());
        }
        self.kernel.stop();
    }
}

/// A tag is a 1-based index into this list.
fn consumers(watch: &Watch) -> Vec<CpuConsumer> {
    let mut consumers: Vec<CpuConsumer> = watch.subjects.iter().map(|subject| subject.consumer).collect();
    consumers.sort_unstable();
    consumers.dedup();
    consumers.truncate(TAGS - 1);
    consumers
}

fn subjects(watch: &Watch, consumers: &[CpuConsumer]) -> Subjects {
    let tag = |consumer| consumers.iter().position(|known| *known == consumer).map(|place| place as u32 + 1);
    Subjects::of(watch.subjects.iter().filter_map(|subject| Some((tag(subject.consumer)?, subject))))
}

fn times(sums: &[Sums], names: &[(Name, u32)], consumers: &[CpuConsumer]) -> Vec<(ConsumerName, u64)> {
    let total = |bucket: usize| sums.iter().map(|cpu| cpu.by_bucket.get(bucket).copied().unwrap_or(0)).sum();
    let named =
        names.iter().map(|(name, bucket)| (decoded(name, consumers).display(), total(*bucket as usize)));
    let unnamed = (0..TAGS).map(|tag| {
        let consumer = tag.checked_sub(1).and_then(|place| consumers.get(place)).copied();
        (ConsumerName::all_of(consumer.unwrap_or(CpuConsumer::Other)), total(FIRST_UNNAMED + tag))
    });
    let interrupts = (0..).zip(sums).flat_map(|(cpu, sums)| {
        [
            (ConsumerName::on(CpuConsumer::Softirq, cpu), sums.softirq),
            (ConsumerName::on(CpuConsumer::Irq, cpu), sums.irq),
        ]
    });
    let idle_task =
        ConsumerName { thread: Some("swapper".to_owned()), ..ConsumerName::all_of(CpuConsumer::Kernel) };
    named.chain(unnamed).chain(interrupts).chain([(idle_task, total(WAKING))]).collect()
}

fn decoded(name: &Name, consumers: &[CpuConsumer]) -> Names {
    let number = |at: usize| u32::from_ne_bytes([name[at], name[at + 1], name[at + 2], name[at + 3]]);
    let place = (number(0) as usize).checked_sub(1);
    Names {
        subject: place.and_then(|place| consumers.get(place)).copied(),
        kernel: number(4) != 0,
        process: text(&name[8..24]),
        thread: text(&name[24..40]),
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.split(|byte| *byte == 0).next().unwrap_or(&[])).into_owned()
}

#[cfg(test)]
mod tests {
    use super::super::sums::BUCKETS;
    use super::*;
    use protocol::Subject;

    fn name(tag: u32, kernel: u32, process: &str, thread: &str) -> Name {
        let mut name = [0; 40];
        name[..4].copy_from_slice(&tag.to_ne_bytes());
        name[4..8].copy_from_slice(&kernel.to_ne_bytes());
        name[8..8 + process.len()].copy_from_slice(process.as_bytes());
        name[24..24 + thread.len()].copy_from_slice(thread.as_bytes());
        name
    }

    fn subject(consumer: CpuConsumer, pids: &[u32]) -> Subject {
        Subject { consumer, pids: pids.to_vec(), namespaces: vec![7], cgroups: Vec::new(), syscalls: false }
    }

    #[test]
    fn subjects_of_one_owner_share_a_tag() {
        let [one, two, three] = [
            subject(CpuConsumer::Server, &[1]),
            subject(CpuConsumer::Client, &[2, 3]),
            subject(CpuConsumer::Server, &[4]),
        ];
        let watch =
            Watch { subjects: vec![one.clone(), two.clone(), three.clone()], latency_breakdown: None };
        let consumers = consumers(&watch);
        assert_eq!(consumers, [CpuConsumer::Client, CpuConsumer::Server]);
        assert_eq!(subjects(&watch, &consumers), Subjects::of([(2, &one), (1, &two), (2, &three)]));
    }

    #[test]
    fn assigns_buckets_interrupts_and_unnamed_tasks() {
        let mut by_bucket = vec![0; BUCKETS];
        (by_bucket[0], by_bucket[1], by_bucket[2], by_bucket[40]) = (999, 1, 20, 300);
        let sums = [
            Sums { by_bucket: by_bucket.clone(), softirq: 4000, irq: 0, stolen: 7 },
            Sums { by_bucket, softirq: 0, irq: 50_000, stolen: 7 },
        ];
        let times = times(&sums, &[(name(1, 0, "plumb", "ping"), 40)], &[CpuConsumer::Client]);
        let of = |consumer| {
            times.iter().filter(|(shown, _)| shown.consumer == consumer).map(|(_, time)| time).sum()
        };
        let found: [u64; 4] =
            [CpuConsumer::Client, CpuConsumer::Other, CpuConsumer::Softirq, CpuConsumer::Irq].map(of);
        assert_eq!(found, [640, 2, 4000, 50_000], "idle time has no owner");
    }

    #[test]
    fn decodes_names_of_the_kernel() {
        let names = decoded(
            &name(2, 0, "qemu-system-x86", "CPU 0/KVM"),
            &[CpuConsumer::Client, CpuConsumer::ServerVm],
        );
        assert_eq!(names.subject, Some(CpuConsumer::ServerVm));
        assert_eq!((names.process.as_str(), names.thread.as_str()), ("qemu-system-x86", "CPU 0/KVM"));
        assert!(decoded(&name(0, 1, "", "kcompactd0"), &[]).kernel);
    }
}
