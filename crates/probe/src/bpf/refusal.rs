//! Explains why the kernel rejected a program, without the verifier's log.

use std::{fs, os::unix::fs::MetadataExt};

use aya::{BtfError, EbpfError, programs::ProgramError};

use crate::observe::ProbeError;

/// `PROC_PID_INIT_INO` from linux/proc_ns.h.
const FIRST_PID_NAMESPACE: u64 = 0xefff_fffc;

#[derive(Debug)]
pub(super) enum Refusal {
    Rights(MissingCapability),
    /// BPF programs see different PIDs, because this process is in a PID namespace.
    OtherNumbers,
    NoTypes(String),
    NoTracepoint(&'static str),
    Object(Box<EbpfError>),
    Program(&'static str, Box<ProgramError>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MissingCapability {
    permission: bool,
    /// Whether the process is in a user namespace, so its capabilities do not apply to the host.
    nested: bool,
    root: bool,
    message: String,
}

impl Refusal {
    pub(super) fn rights(error: &sys::Error) -> Self {
        Self::Rights(MissingCapability {
            permission: error.is_permission(),
            nested: sys::userns::is_nested(),
            root: fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0),
            message: error.to_string(),
        })
    }

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

    pub(super) fn explain(&self) -> ProbeError {
        let kernel = sys::uname::kernel_release();
        let (reason, remedy) = match self {
            Self::Rights(lack) => lack.explain(),
            Self::OtherNumbers => (
                "this process is in a PID namespace, e.g. in a container, so eBPF programs see different PIDs".into(),
                "give the container --pid=host, or run on the host".into(),
            ),
            Self::NoTypes(reason) => (
                format!("the kernel provides no type information (BTF): {reason}"),
                "use a kernel with CONFIG_DEBUG_INFO_BTF; in a container, mount /sys".to_owned(),
            ),
            Self::NoTracepoint(name) => (
                format!("Linux {kernel} has no tracepoint {name} for eBPF"),
                "use Linux 5.11 or later with CONFIG_FTRACE_SYSCALLS and CONFIG_BPF_EVENTS".to_owned(),
            ),
            Self::Object(error) => too_old(&kernel, "the probe's maps", root_cause(&**error)),
            Self::Program(name, error) => {
                too_old(&kernel, &format!("the probe's program at {name}"), root_cause(&**error))
            }
        };
        ProbeError::Unavailable { reason, remedy }
    }
}

impl MissingCapability {
    fn explain(&self) -> (String, String) {
        let capabilities = "CAP_BPF and CAP_PERFMON";
        match self {
            Self { permission: true, nested: true, .. } => (
                "eBPF programs require root on the host, but this process is root only in a user namespace".into(),
                "run it with sudo; in a container, run the container as root".into(),
            ),
            Self { permission: true, root: true, .. } => (
                format!("this process is root without {capabilities}, as in a container"),
                "give the container --cap-add BPF,PERFMON and a seccomp profile that allows bpf(2), or run on the host"
                    .into(),
            ),
            Self { permission: true, .. } => (
                format!("eBPF programs require {capabilities}, which this process lacks"),
                "run it with sudo".into(),
            ),
            Self { message, .. } => (
                format!("the kernel does not support eBPF on tracepoints: {message}"),
                "use a kernel with CONFIG_BPF_SYSCALL, CONFIG_BPF_EVENTS and CONFIG_FTRACE_SYSCALLS".into(),
            ),
        }
    }
}

fn too_old(kernel: &str, what: &str, reason: Option<String>) -> (String, String) {
    let reason = reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
    (
        format!("Linux {kernel} rejects {what}{reason}"),
        "use Linux 5.11 or later; if you already do, please report this message".to_owned(),
    )
}

/// Returns the root cause in aya's error. The other parts contain the verifier log.
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

    fn message(refusal: &Refusal) -> String {
        refusal.explain().to_string()
    }

    #[test]
    fn reports_missing_btf() {
        let text = message(&Refusal::NoTypes("No such file or directory".into()));
        assert!(text.contains("BTF") && text.contains("CONFIG_DEBUG_INFO_BTF"), "{text}");
    }

    #[test]
    fn reports_pid_namespace_of_a_container() {
        let text = message(&Refusal::OtherNumbers);
        assert!(text.contains("PID namespace") && text.contains("--pid=host"), "{text}");
    }

    #[test]
    fn reports_missing_capability_with_remedy() {
        for (nested, root, reason, remedy) in [
            (true, true, "root only in a user namespace", "sudo"),
            (false, true, "as in a container", "--cap-add BPF,PERFMON"),
            (false, false, "CAP_BPF and CAP_PERFMON", "sudo"),
        ] {
            let lack = MissingCapability { permission: true, nested, root, message: "EPERM".into() };
            let text = message(&Refusal::Rights(lack));
            assert!(text.contains(reason) && text.contains(remedy), "{text}");
        }
        let absent =
            MissingCapability { permission: false, nested: false, root: true, message: "ENOSYS".into() };
        assert!(message(&Refusal::Rights(absent)).contains("CONFIG_BPF_SYSCALL"));
    }

    #[test]
    fn never_shows_the_verifier_log() {
        let object = aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/refused.bpf.o"));
        let text = match BpfObject::new(object, &[Hook::needed("wrong", "sys_enter")], &[]) {
            Ok(_) => panic!("invalid memory access"),
            Err(error) => error.to_string(),
        };
        assert!(!text.contains('\n') && !text.contains("processed") && !text.contains("invalid"), "{text}");
        if can_load() {
            assert!(text.contains("rejects the probe's program at sys_enter ("), "{text}");
        }
    }

    #[test]
    fn names_missing_tracepoint_unless_optional() {
        let object = aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/syscalls.bpf.o"));
        let load = |hook| BpfObject::new(object, &[hook], &[]);
        if !can_load() {
            return;
        }
        let text = load(Hook::needed("enter", "no_such")).err().map(|error| error.to_string());
        assert!(text.as_ref().is_some_and(|text| text.contains("has no tracepoint no_such")), "{text:?}");
        assert!(load(Hook::optional("enter", "no_such")).is_ok());
    }
}
