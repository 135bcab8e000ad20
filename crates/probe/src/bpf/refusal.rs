//! Why the kernel did not take a program, in plain words. Never shows a verifier's log.

use std::{fs, os::unix::fs::MetadataExt};

use aya::{BtfError, EbpfError, programs::ProgramError};

use crate::observe::ProbeError;

/// `PROC_PID_INIT_INO` of linux/proc_ns.h.
const FIRST_PID_NAMESPACE: u64 = 0xefff_fffc;

/// Why nothing was loaded or attached.
#[derive(Debug)]
pub(super) enum Refusal {
    /// Programs of two instructions are refused too.
    Rights(MissingCapability),
    /// This process and the kernel's programs number processes differently.
    OtherNumbers,
    /// The kernel does not tell its types.
    NoTypes(String),
    /// There is no such tracepoint.
    NoTracepoint(&'static str),
    /// The object does not fit the kernel.
    Object(Box<EbpfError>),
    /// A program, by its tracepoint, that the kernel refuses.
    Program(&'static str, Box<ProgramError>),
}

/// What is needed to load any program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MissingCapability {
    /// A right, rather than a part of the kernel.
    permission: bool,
    /// All capabilities of a user namespace do not count.
    nested: bool,
    /// Its user is root, as far as it can see.
    root: bool,
    /// The kernel's own words.
    words: String,
}

impl Refusal {
    pub(super) fn rights(error: &sys::Error) -> Self {
        Self::Rights(MissingCapability {
            permission: error.is_permission(),
            nested: sys::userns::is_nested(),
            root: fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0),
            words: error.to_string(),
        })
    }

    /// Whether programs in the kernel, which see the numbers of the first PID namespace, see those of this process.
    pub(super) fn numbers() -> Result<(), Self> {
        let own = fs::metadata("/proc/self/ns/pid");
        if own.is_ok_and(|own| own.ino() != FIRST_PID_NAMESPACE) { Err(Self::OtherNumbers) } else { Ok(()) }
    }

    pub(super) fn object(error: EbpfError) -> Self {
        Self::Object(Box::new(error))
    }

    pub(super) fn program(tracepoint: &'static str, error: ProgramError) -> Self {
        match error {
            ProgramError::Btf(BtfError::UnknownBtfTypeName { .. }) => Self::NoTracepoint(tracepoint),
            error => Self::Program(tracepoint, Box::new(error)),
        }
    }

    /// What a user reads.
    pub(super) fn told(&self) -> ProbeError {
        let kernel = sys::uname::kernel_release();
        let (because, remedy) = match self {
            Self::Rights(lack) => lack.told(),
            Self::OtherNumbers => (
                "this process is in a PID namespace, as in a container, and cannot tell the kernel whom to watch".into(),
                "give the container --pid=host, or run on the host".into(),
            ),
            Self::NoTypes(why) => (
                format!("the kernel does not tell its types (BTF): {why}"),
                "run a kernel with CONFIG_DEBUG_INFO_BTF; in a container, mount /sys".to_owned(),
            ),
            Self::NoTracepoint(name) => (
                format!("Linux {kernel} has no tracepoint {name} for eBPF"),
                "run a kernel with CONFIG_FTRACE_SYSCALLS and CONFIG_BPF_EVENTS, 5.11 or later".to_owned(),
            ),
            Self::Object(error) => too_old(&kernel, "the probe's maps", root_cause(&**error)),
            Self::Program(name, error) => {
                too_old(&kernel, &format!("the probe's program at {name}"), root_cause(&**error))
            }
        };
        ProbeError::Unavailable { because, remedy }
    }
}

impl MissingCapability {
    fn told(&self) -> (String, String) {
        let capabilities = "CAP_BPF and CAP_PERFMON";
        match self {
            Self { permission: true, nested: true, .. } => (
                "eBPF programs need root of the machine, and this process is only root of a user namespace".into(),
                "run it with sudo; in a container, run that as root of the machine".into(),
            ),
            Self { permission: true, root: true, .. } => (
                format!("this process is root without {capabilities}, as in a container"),
                "give the container --cap-add BPF,PERFMON and a seccomp profile that allows bpf(2), or run on the host"
                    .into(),
            ),
            Self { permission: true, .. } => (
                format!("eBPF programs need {capabilities}, and this process has not got them"),
                "run it with sudo".into(),
            ),
            Self { words, .. } => (
                format!("the kernel has no eBPF for tracepoints: {words}"),
                "run a kernel with CONFIG_BPF_SYSCALL, CONFIG_BPF_EVENTS and CONFIG_FTRACE_SYSCALLS".into(),
            ),
        }
    }
}

/// The kernel knows eBPF and BTF, so that what it refuses is newer than it.
fn too_old(kernel: &str, what: &str, why: Option<String>) -> (String, String) {
    let why = why.map(|why| format!(" ({why})")).unwrap_or_default();
    (
        format!("Linux {kernel} does not take {what}{why}"),
        "run a kernel of 5.11 or later; if it is one, please report this line".to_owned(),
    )
}

/// The kernel's error number in words: the only part of an error of aya that holds no log.
fn root_cause(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    let mut causes = std::iter::successors(Some(error), |error| error.source());
    causes.find_map(|cause| cause.downcast_ref::<std::io::Error>()).map(ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bpf::{BpfObject, Hook};

    fn can_load() -> bool {
        sys::bpf::try_load().is_ok() && Refusal::numbers().is_ok()
    }

    fn words(refusal: &Refusal) -> String {
        refusal.told().to_string()
    }

    #[test]
    fn a_kernel_without_btf_is_told_what_it_lacks() {
        let told = words(&Refusal::NoTypes("No such file or directory".into()));
        assert!(told.contains("BTF") && told.contains("CONFIG_DEBUG_INFO_BTF"), "{told}");
    }

    #[test]
    fn a_container_with_numbers_of_its_own_is_told_so() {
        let told = words(&Refusal::OtherNumbers);
        assert!(told.contains("PID namespace") && told.contains("--pid=host"), "{told}");
    }

    #[test]
    fn a_missing_right_names_the_right_and_the_way_to_it() {
        for (nested, root, because, remedy) in [
            (true, true, "only root of a user namespace", "sudo"),
            (false, true, "as in a container", "--cap-add BPF,PERFMON"),
            (false, false, "CAP_BPF and CAP_PERFMON", "sudo"),
        ] {
            let lack = MissingCapability { permission: true, nested, root, words: "EPERM".into() };
            let told = words(&Refusal::Rights(lack));
            assert!(told.contains(because) && told.contains(remedy), "{told}");
        }
        let absent =
            MissingCapability { permission: false, nested: false, root: true, words: "ENOSYS".into() };
        assert!(words(&Refusal::Rights(absent)).contains("CONFIG_BPF_SYSCALL"));
    }

    #[test]
    fn a_verifiers_log_is_never_told() {
        let object = aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/refused.bpf.o"));
        let told = match BpfObject::new(object, &[Hook::needed("wrong", "sys_enter")], &[]) {
            Ok(_) => panic!("it reads where it must not"),
            Err(error) => error.to_string(),
        };
        assert!(!told.contains('\n') && !told.contains("processed") && !told.contains("invalid"), "{told}");
        if can_load() {
            assert!(told.contains("does not take the probe's program at sys_enter ("), "{told}");
        }
    }

    #[test]
    fn a_tracepoint_that_the_kernel_lacks_is_named_unless_it_is_optional() {
        let object = aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/syscalls.bpf.o"));
        let load = |hook| BpfObject::new(object, &[hook], &[]);
        if !can_load() {
            return;
        }
        let told = load(Hook::needed("enter", "no_such")).err().map(|error| error.to_string());
        assert!(told.as_ref().is_some_and(|told| told.contains("has no tracepoint no_such")), "{told:?}");
        assert!(load(Hook::optional("enter", "no_such")).is_ok());
    }
}
