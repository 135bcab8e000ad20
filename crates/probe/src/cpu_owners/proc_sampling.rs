//! The probe without programs: the difference of what /proc says of every task before and after.
//!
//! Must not know of eBPF. What it cannot see is in nobody's share: the time of tasks that came and went between two
//! readings, and the last of those that ended. Soft interrupts are in the time of the task that they came into;
//! kernels that count interrupts apart (`CONFIG_IRQ_TIME_ACCOUNTING`) leave them out of it, so that those are taken
//! from /proc/stat. Such a kernel is known by the column irq, which stays at nothing where only ticks are counted: a
//! tick is an interrupt itself and never meets another one.

use std::collections::HashMap;

use protocol::Subject;
use samples::{AttributionSource, CpuOwner, MachineCpu, OwnedCpu, ProbeKind, ProbeResults};

use super::{
    machine,
    names::{Names, OwnerName},
    not_started,
    shares::shares,
    tasks::{Id, KnownTask, Tasks, lives_in},
    tell,
};
use crate::{
    cpu::CpuReading,
    observe::{Probe, ProbeError, Watch},
};

/// What was seen, and what to compare with.
#[derive(Default)]
pub(super) struct ProcSampling {
    /// Why not the exact probe.
    because: String,
    subjects: Vec<Subject>,
    before: Option<Reading>,
    stopped: Option<Result<(OwnedCpu, u64), ProbeError>>,
}

#[derive(Clone)]
struct Reading {
    tasks: Tasks,
    machine: CpuReading,
}

impl ProcSampling {
    /// # Errors
    /// [`ProbeError::Unavailable`] when /proc cannot be read.
    pub(super) fn new(because: String) -> Result<Self, ProbeError> {
        Reading::now().map(|_| Self { because, ..Self::default() })
    }

    fn seen(&self, before: &Reading) -> Result<(OwnedCpu, u64), ProbeError> {
        let after = Reading::now()?;
        let stat = after.machine.since(&before.machine);
        let tasks = times(&before.tasks, &after.tasks, &self.subjects);
        let seen = OwnedCpu {
            source: AttributionSource::Sampled,
            because: Some(self.because.clone()),
            elapsed: stat.elapsed,
            cpus: stat.cpus,
            busy: machine::busy(&stat, stat.steal),
            steal: stat.steal,
            shares: shares(tasks.into_iter().chain(interrupts(&stat))),
        };
        Ok((seen, after.tasks.missed))
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
        self.subjects.clone_from(&watch.subjects);
        self.stopped = None;
        self.before = Some(Reading::now()?);
        Ok(())
    }

    fn read(&mut self, seen: &mut ProbeResults) -> Result<(), ProbeError> {
        let found = match (&self.stopped, &self.before) {
            (Some(stopped), _) => stopped.clone()?,
            (None, Some(before)) => self.seen(before)?,
            (None, None) => return Err(not_started()),
        };
        tell(found, seen);
        Ok(())
    }

    fn stop(&mut self) {
        if let Some(before) = self.before.take() {
            self.stopped = Some(self.seen(&before));
        }
    }
}

/// The time of each task between two readings, by who is shown.
fn times(before: &Tasks, after: &Tasks, subjects: &[Subject]) -> Vec<(OwnerName, u64)> {
    let families = Families::new(before, after, subjects);
    let time = |(id, now): (&Id, &KnownTask)| {
        let then = before.seen.get(id).map_or(0, |then| then.time);
        let names = Names {
            subject: if now.kernel { families.named(now.pid) } else { families.subject(now) },
            kernel: now.kernel,
            process: now.process.clone(),
            thread: now.thread.clone(),
        };
        (names.shown(), now.time.saturating_sub(then))
    };
    after.seen.iter().map(time).filter(|(_, time)| *time > 0).collect()
}

/// Interrupts that the kernel counts apart from tasks.
fn interrupts(machine: &MachineCpu) -> Vec<(OwnerName, u64)> {
    if machine.irq.0 == 0 {
        return Vec::new();
    }
    let softirqs =
        machine.by_cpu.iter().map(|cpu| (OwnerName::on(CpuOwner::Softirq, cpu.cpu), cpu.softirq.0));
    softirqs.chain([(OwnerName::all_of(CpuOwner::Irq), machine.irq.0)]).collect()
}

/// Which processes are a subject's, or were made by one of them since.
struct Families<'a> {
    subjects: &'a [Subject],
    /// The parent of each process that is new.
    parents: HashMap<u32, u32>,
}

impl<'a> Families<'a> {
    fn new(before: &Tasks, after: &Tasks, subjects: &'a [Subject]) -> Self {
        let is_new = |(id, task): &(&Id, &KnownTask)| id.tid == task.pid && !before.seen.contains_key(id);
        let parents = after.seen.iter().filter(is_new).map(|(_, task)| (task.pid, task.parent)).collect();
        Self { subjects, parents }
    }

    fn subject(&self, task: &KnownTask) -> Option<CpuOwner> {
        let line = std::iter::successors(Some(task.pid), |pid| self.parents.get(pid).copied());
        let by_line = line.take(self.parents.len() + 1).find_map(|pid| self.named(pid));
        by_line
            .or_else(|| self.subjects.iter().find(|subject| lives_in(task.pid, subject)).map(|one| one.owner))
    }

    fn named(&self, pid: u32) -> Option<CpuOwner> {
        self.subjects.iter().find(|subject| subject.pids.contains(&pid)).map(|subject| subject.owner)
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
            (Id { tid, started: 7 }, KnownTask { pid, parent, kernel, process, thread: name.into(), time })
        };
        Tasks { seen: list.iter().map(seen).collect(), missed: 0 }
    }

    fn client(pid: u32) -> Subject {
        Subject {
            owner: CpuOwner::Client,
            pids: vec![pid],
            namespaces: Vec::new(),
            cgroups: Vec::new(),
            syscalls: false,
        }
    }

    #[test]
    fn threads_and_new_children_count_with_their_subject_and_old_children_do_not() {
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
        let of = |owner| times.iter().filter(|(shown, _)| shown.owner == owner).map(|(_, time)| time).sum();
        let found: [u64; 3] = [CpuOwner::Client, CpuOwner::Other, CpuOwner::Ksoftirqd].map(of);
        assert_eq!(found, [50 + 1000 + 200 + 3000, 1, 9]);
    }

    #[test]
    fn a_number_used_again_is_another_task() {
        let before = tasks(&[(10, 10, 1, "ended", 1_000)]);
        let mut after = tasks(&[]);
        let seen = KnownTask { time: 30, ..before.seen.values().next().expect("one").clone() };
        after.seen.insert(Id { tid: 10, started: 8 }, seen);
        let times: Vec<u64> = times(&before, &after, &[]).into_iter().map(|(_, time)| time).collect();
        assert_eq!(times, [30]);
    }

    #[test]
    fn interrupts_have_shares_only_where_the_kernel_counts_them_apart() {
        let mut machine = MachineCpu { softirq: Nanos(40), ..MachineCpu::default() };
        machine.by_cpu = vec![samples::CpuTimes { cpu: 0, softirq: Nanos(40), ..Default::default() }];
        assert_eq!(interrupts(&machine), []);
        machine.irq = Nanos(10);
        let times: Vec<u64> = interrupts(&machine).into_iter().map(|(_, time)| time).collect();
        assert_eq!(times, [40, 10]);
    }
}
