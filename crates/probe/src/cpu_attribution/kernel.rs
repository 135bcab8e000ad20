//! The user-space counterpart of the programs and maps in `cpu_attribution.bpf.c` and `tasks.h`.

use std::fs::File;
use std::io::Read;

use aya::{
    Btf, TestRun,
    programs::{Iter, Program, ProgramError, RawTracePoint, RawTracePointRunOptions},
};

use super::sums::{Cpu, Sums, empty, steady};
use crate::{
    bpf::{BpfObject, Hook, Subjects, failed},
    observe::ProbeError,
};

pub(super) const TAGS: usize = 32;
/// The bucket for tag 0. The buckets for the other tags follow.
pub(super) const FIRST_UNNAMED: usize = 1;
/// The bucket for CPUs that are switching from idle to a task. It follows the bucket for hidden tasks.
pub(super) const WAKING: usize = FIRST_UNNAMED + TAGS + 1;

/// Mirrors `struct name` in tasks.h.
pub(super) type Name = [u8; 40];

type Control = [u64; 3];

/// Exit programs are attached before entry programs, because an interrupt with a missed exit would never end.
const HOOKS: [Hook; 18] = [
    Hook::needed("on_new_task", "task_newtask"),
    Hook::needed("on_rename", "task_rename"),
    Hook::needed("on_softirq_exit", "softirq_exit"),
    Hook::needed("on_softirq_entry", "softirq_entry"),
    Hook::needed("irq_handler_ends", "irq_handler_exit"),
    Hook::needed("irq_handler_begins", "irq_handler_entry"),
    // These tracepoints exist only on x86. Elsewhere, the interrupted task is charged for these interrupts.
    Hook::optional("local_timer_ends", "local_timer_exit"),
    Hook::optional("local_timer_begins", "local_timer_entry"),
    Hook::optional("reschedule_ends", "reschedule_exit"),
    Hook::optional("reschedule_begins", "reschedule_entry"),
    Hook::optional("call_function_ends", "call_function_exit"),
    Hook::optional("call_function_begins", "call_function_entry"),
    Hook::optional("call_function_single_ends", "call_function_single_exit"),
    Hook::optional("call_function_single_begins", "call_function_single_entry"),
    Hook::optional("irq_work_ends", "irq_work_exit"),
    Hook::optional("irq_work_begins", "irq_work_entry"),
    // Added in Linux 6.9.
    Hook::optional("on_active", "tmigr_cpu_active"),
    Hook::needed("on_switch", "sched_switch"),
];

pub(super) struct Kernel {
    loaded: BpfObject,
    era: u64,
}

impl Kernel {
    pub(super) fn load() -> Result<Self, ProbeError> {
        let object = aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/cpu_attribution.bpf.o"));
        let mut loaded = BpfObject::new(object, &HOOKS, &[("cpus", possible_cpus()?)])?;
        for name in ["start", "each_task"] {
            load_one(&mut loaded, name).map_err(|_| refused(name))?;
        }
        Ok(Self { loaded, era: 0 })
    }

    pub(super) fn start(&mut self, subjects: &Subjects) -> Result<(), ProbeError> {
        self.loaded.detach();
        self.clear(subjects)?;
        self.loaded.attach()?;
        self.visit_tasks().map_err(|error| cannot("visit all tasks", &error))?;
        self.start_cpus()
    }

    pub(super) fn stop(&mut self) {
        self.loaded.detach();
    }

    pub(super) fn sums(&mut self) -> Result<Vec<Sums>, ProbeError> {
        let cpus = self.loaded.array::<Cpu>("cpus")?;
        let mut sums = Vec::new();
        for index in 0..cpus.len() {
            let mut read = || cpus.get(&index, 0).map_err(|error| failed("read", "cpus", &error));
            sums.push(steady(&mut read)?);
        }
        Ok(sums)
    }

    pub(super) fn names(&mut self) -> Result<Vec<(Name, u32)>, ProbeError> {
        let buckets = self.loaded.hash::<Name, u32>("buckets")?;
        buckets.iter().collect::<Result<_, _>>().map_err(|error| failed("read", "buckets", &error))
    }

    pub(super) fn unnamed(&mut self) -> Result<u64, ProbeError> {
        let control = self.loaded.array::<Control>("control")?;
        control.get(&0, 0).map(|[_, _, unnamed]| unnamed).map_err(|error| failed("read", "control", &error))
    }

    #[cfg(test)]
    pub(super) fn changes(&mut self) -> u64 {
        let cpus = self.loaded.array::<Cpu>("cpus").expect("loaded");
        cpus.iter().map(|cpu| cpu.expect("readable")[0]).sum()
    }

    fn clear(&mut self, subjects: &Subjects) -> Result<(), ProbeError> {
        self.loaded.replace::<Name, u32>("buckets", &[])?;
        self.loaded.set_subjects(subjects)?;
        self.era += 1;
        let control: Control = [self.era, WAKING as u64 + 1, 0];
        let write = |error| failed("write", "control", &error);
        self.loaded.array::<Control>("control")?.set(0, control, 0).map_err(write)?;
        let mut cpus = self.loaded.array::<Cpu>("cpus")?;
        for index in 0..cpus.len() {
            cpus.set(index, empty(), 0).map_err(|error| failed("write", "cpus", &error))?;
        }
        Ok(())
    }

    fn visit_tasks(&mut self) -> Result<(), String> {
        let Some(Program::Iter(each)) = self.loaded.program("each_task") else {
            return Err("the object has no iterator".to_owned());
        };
        let link = each.attach().map_err(|error| error.to_string())?;
        let link = each.take_link(link).map_err(|error| error.to_string())?;
        let mut file: File = link.into_file().map_err(|error| error.to_string())?;
        file.read_to_end(&mut Vec::new()).map(drop).map_err(|error| error.to_string())
    }

    fn start_cpus(&mut self) -> Result<(), ProbeError> {
        let cpus = self.loaded.array::<Cpu>("cpus")?.len();
        let Some(Program::RawTracePoint(start)) = self.loaded.program("start") else {
            return Err(cannot("begin", &"the object has no start program"));
        };
        let begun: Vec<_> = (0..cpus)
            .filter(|cpu| start.test_run(RawTracePointRunOptions { cpu: Some(*cpu), args: [0; 12] }).is_ok())
            .collect();
        match begun.is_empty() {
            true => Err(cannot("begin", &"no CPU could run the start program")),
            false => Ok(()),
        }
    }
}

fn load_one(loaded: &mut BpfObject, name: &str) -> Result<(), ProgramError> {
    match loaded.program(name) {
        Some(Program::RawTracePoint(program)) => RawTracePoint::load(program),
        Some(Program::Iter(program)) => Iter::load(program, "task", &Btf::from_sys_fs()?),
        _ => Err(ProgramError::UnexpectedProgramType),
    }
}

fn possible_cpus() -> Result<u32, ProbeError> {
    let count = aya::util::nr_cpus().map_err(|(file, error)| cannot(file, &error))?;
    Ok(u32::try_from(count).unwrap_or(1))
}

fn refused(program: &str) -> ProbeError {
    let kernel = sys::uname::kernel_release();
    ProbeError::Unavailable {
        reason: format!("Linux {kernel} rejects the probe's program {program}"),
        remedy: "use Linux 5.11 or later".to_owned(),
    }
}

fn cannot(operation: &str, reason: &dyn std::fmt::Display) -> ProbeError {
    ProbeError::Failed { operation: operation.to_owned(), reason: reason.to_string() }
}
