//! The probe without BPF programs: compares the times of tasks in /proc.
//!
//! A process that starts and ends between two readings is charged to its parent, because /proc adds the times of
//! reaped children. If a thread ends in between, its time since the first reading has no owner. Soft interrupts
//! are charged to the interrupted task. Kernels with `CONFIG_IRQ_TIME_ACCOUNTING` exclude interrupts from task
//! times, so the probe reads interrupt times from /proc/stat.

use std::collections::HashMap;

use protocol::{HostCpu, Subject};
use samples::{AttributedCpu, AttributionSource, CpuConsumer, MachineCpu, ProbeKind, ProbeResults};

use super::{
    add_result, machine,
    names::{ConsumerName, Names},
    not_started,
    shares::shares,
    tasks::{Id, KnownTask, Tasks, belongs_to},
};
use crate::{
    cpu::CpuReading,
    observe::{Probe, ProbeError, Watch},
};

pub struct ProcessTimes {
    subjects: Vec<Subject>,
    before: Reading,
}

impl ProcessTimes {
    pub fn from_now(subjects: Vec<Subject>) -> Result<Self, ProbeError> {
        Ok(Self { subjects, before: Reading::now()? })
    }

    pub fn until_now(&self) -> Result<HostCpu, ProbeError> {
        Ok(self.passed()?.0)
    }

    fn passed(&self) -> Result<(HostCpu, u64), ProbeError> {
        let after = Reading::now()?;
        let machine = after.machine.since(&self.before.machine);
        let tasks = times(&self.before.tasks, &after.tasks, &self.subjects);
        let processes = AttributedCpu {
            source: AttributionSource::Sampled,
            reason: None,
            elapsed: machine.elapsed,
            cpus: machine.cpus,
            busy: machine::busy(&machine, machine.steal),
            steal: machine.steal,
            shares: shares(tasks.into_iter().chain(interrupts(&machine))),
        };
        Ok((HostCpu { machine, processes }, after.tasks.missed))
    }
}

#[derive(Default)]
pub(super) struct ProcSampling {
    reason: String,
    start: Option<ProcessTimes>,
    stopped: Option<Result<(AttributedCpu, u64), ProbeError>>,
}

struct Reading {
    tasks: Tasks,
    machine: CpuReading,
}

impl ProcSampling {
    pub(super) fn new(reason: String) -> Result<Self, ProbeError> {
        Reading::now().map(|_| Self { reason, ..Self::default() })
    }

    fn sample(&self, start: &ProcessTimes) -> Result<(AttributedCpu, u64), ProbeError> {
        let (HostCpu { processes, .. }, missed) = start.passed()?;
        Ok((AttributedCpu { reason: Some(self.reason.clone()), ..processes }, missed))
    }
}

impl Reading {
    fn now() -> Result<Self, ProbeError> {
        let tasks = Tasks::now()?;
        Ok(Self { tasks, machine: machine::reading()? })
    }
}

impl Probe for ProcSampling {
    fn kind(&self) -> ProbeKind {
        ProbeKind::Cpu
    }

    fn start(&mut self, watch: &Watch) -> Result<(), ProbeError> {
        self.stopped = None;
        self.start = Some(ProcessTimes::from_now(watch.subjects.clone())?);
        Ok(())
    }

    fn read(&mut self, seen: &mut ProbeResults) -> Result<(), ProbeError> {
        let found = match (&self.stopped, &self.start) {
            (Some(stopped), _) => stopped.clone()?,
            (None, Some(start)) => self.sample(start)?,
            (None, None) => return Err(not_started()),
        };
        add_result(found, seen);
        Ok(())
    }

    fn stop(&mut self) {
        if let Some(start) = self.start.take() {
            self.stopped = Some(self.sample(&start));
        }
    }
}

fn times(before: &Tasks, after: &Tasks, subjects: &[Subject]) -> Vec<(ConsumerName, u64)> {
    let families = Families::new(before, after, subjects);
    let ended_times = ended_times(before, after);
    let time = |(id, now): (&Id, &KnownTask)| {
        let then = before.seen.get(id).map_or(0, |then| then.time + then.children);
        let known = ended_times.get(id).copied().unwrap_or(0);
        let names = Names {
            subject: if now.kernel { families.named(now.pid) } else { families.subject(now) },
            kernel: now.kernel,
            process: now.process.clone(),
            thread: now.thread.clone(),
        };
        (names.display(), (now.time + now.children).saturating_sub(then + known))
    };
    after.seen.iter().map(time).filter(|(_, time)| *time > 0).collect()
}

fn ended_times(before: &Tasks, after: &Tasks) -> HashMap<Id, u64> {
    let is_first = |(id, task): &(&Id, &KnownTask)| id.tid == task.pid;
    let processes: HashMap<u32, &Id> =
        before.seen.iter().filter(is_first).map(|(id, task)| (task.pid, id)).collect();
    let is_gone = |id: &Id| !after.seen.contains_key(id);
    let mut known = HashMap::new();
    for (_, task) in before.seen.iter().filter(is_first).filter(|(id, _)| is_gone(id)) {
        let parents = std::iter::successors(processes.get(&task.parent).copied(), |id| {
            processes.get(&before.seen[*id].parent).copied()
        });
        if let Some(waited) = parents.take(processes.len()).find(|id| !is_gone(id)) {
            *known.entry(*waited).or_default() += task.whole + task.children;
        }
    }
    known
}

fn interrupts(machine: &MachineCpu) -> Vec<(ConsumerName, u64)> {
    if machine.irq.0 == 0 {
        return Vec::new();
    }
    let softirqs =
        machine.by_cpu.iter().map(|cpu| (ConsumerName::on(CpuConsumer::Softirq, cpu.cpu), cpu.softirq.0));
    softirqs.chain([(ConsumerName::all_of(CpuConsumer::Irq), machine.irq.0)]).collect()
}

struct Families<'a> {
    subjects: &'a [Subject],
    parents: HashMap<u32, u32>,
}

impl<'a> Families<'a> {
    fn new(before: &Tasks, after: &Tasks, subjects: &'a [Subject]) -> Self {
        let is_new = |(id, task): &(&Id, &KnownTask)| id.tid == task.pid && !before.seen.contains_key(id);
        let parents = after.seen.iter().filter(is_new).map(|(_, task)| (task.pid, task.parent)).collect();
        Self { subjects, parents }
    }

    fn subject(&self, task: &KnownTask) -> Option<CpuConsumer> {
        let line = std::iter::successors(Some(task.pid), |pid| self.parents.get(pid).copied());
        let by_line = line.take(self.parents.len() + 1).find_map(|pid| self.named(pid));
        by_line.or_else(|| {
            self.subjects.iter().find(|subject| belongs_to(task.pid, subject)).map(|one| one.consumer)
        })
    }

    fn named(&self, pid: u32) -> Option<CpuConsumer> {
        self.subjects.iter().find(|subject| subject.pids.contains(&pid)).map(|subject| subject.consumer)
    }
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::*;

    fn tasks(list: &[(u32, u32, u32, &str, u64)]) -> Tasks {
        let seen = |&(tid, pid, parent, name, time): &(u32, u32, u32, &str, u64)| {
            let kernel = parent == 2;
            let process = if kernel { String::new() } else { name.to_owned() };
            let task = KnownTask {
                pid,
                parent,
                kernel,
                process,
                thread: name.into(),
                time,
                whole: time,
                children: 0,
            };
            (Id { tid, started: 7 }, task)
        };
        Tasks { seen: list.iter().map(seen).collect(), missed: 0 }
    }

    fn client(pid: u32) -> Subject {
        Subject {
            consumer: CpuConsumer::Client,
            pids: vec![pid],
            namespaces: Vec::new(),
            cgroups: Vec::new(),
            syscalls: false,
        }
    }

    #[test]
    fn threads_and_new_children_belong_to_their_subject() {
        let before = tasks(&[(10, 10, 1, "agent", 100), (20, 20, 10, "old child", 5)]);
        let after = tasks(&[
            (10, 10, 1, "agent", 150),
            (11, 10, 1, "send-0", 1000),
            (20, 20, 10, "old child", 6),
            (30, 30, 10, "child", 200),
            (31, 31, 30, "grandchild", 3000),
            (14, 14, 2, "ksoftirqd/0", 9),
        ]);
        let times = times(&before, &after, &[client(10)]);
        let of = |consumer| {
            times.iter().filter(|(shown, _)| shown.consumer == consumer).map(|(_, time)| time).sum()
        };
        let found: [u64; 3] = [CpuConsumer::Client, CpuConsumer::Other, CpuConsumer::Ksoftirqd].map(of);
        assert_eq!(found, [50 + 1000 + 200 + 3000, 1, 9]);
    }

    #[test]
    fn reused_pid_is_another_task() {
        let before = tasks(&[(10, 10, 1, "ended", 1_000)]);
        let mut after = tasks(&[]);
        let seen = KnownTask { time: 30, ..before.seen.values().next().expect("one").clone() };
        after.seen.insert(Id { tid: 10, started: 8 }, seen);
        let times: Vec<u64> = times(&before, &after, &[]).into_iter().map(|(_, time)| time).collect();
        assert_eq!(times, [30]);
    }

    #[test]
    fn parent_gets_only_the_new_time_of_ended_children() {
        let before = tasks(&[(5, 5, 1, "make", 10), (6, 6, 5, "gcc", 40), (7, 7, 6, "cc1", 300)]);
        let mut after = tasks(&[(5, 5, 1, "make", 30)]);
        // gcc ran for another 5 ns, and cc1 for another 600 ns. Another compiler ran for 1,000 ns.
        after.seen.values_mut().for_each(|make| make.children = 45 + 900 + 1_000);
        let times = times(&before, &after, &[]);
        assert_eq!(times.into_iter().map(|(_, time)| time).collect::<Vec<_>>(), [20 + 5 + 600 + 1_000]);
    }

    #[test]
    fn interrupts_have_shares_only_if_accounted_separately() {
        let mut machine = MachineCpu { softirq: Nanos(40), ..MachineCpu::default() };
        machine.by_cpu = vec![samples::CpuTimes { cpu: 0, softirq: Nanos(40), ..Default::default() }];
        assert_eq!(interrupts(&machine), []);
        machine.irq = Nanos(10);
        let times: Vec<u64> = interrupts(&machine).into_iter().map(|(_, time)| time).collect();
        assert_eq!(times, [40, 10]);
    }
}
