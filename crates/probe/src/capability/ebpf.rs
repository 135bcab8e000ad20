//! Checks whether eBPF programs can be loaded and attached, and whether the kernel has BTF.

use std::fs::File;
use std::io::Read;

use super::{Area, Capability, Subject};

const EBPF: Subject = Subject {
    id: "ebpf",
    title: "eBPF",
    needed_for: "probes: CPU attribution, system calls, latency breakdown",
    area: Area::Machine,
    required: false,
};

const BTF: Subject = Subject {
    id: "btf",
    title: "kernel types (BTF)",
    needed_for: "probes: they use BTF to locate fields of kernel structures",
    area: Area::Machine,
    required: false,
};

const TYPES: &str = "/sys/kernel/btf/vmlinux";

/// The magic number of BTF data (Documentation/bpf/btf.rst in the kernel sources).
const MAGIC: u16 = 0xeb9f;

pub(super) fn load() -> Capability {
    judge_load(sys::bpf::try_load())
}

pub(super) fn types() -> Capability {
    let mut magic = [0; 2];
    let read = File::open(TYPES).and_then(|mut file| file.read_exact(&mut magic));
    judge_types(read.map(|()| u16::from_ne_bytes(magic)).map_err(|error| error.to_string()))
}

fn judge_load(tried: sys::Result<()>) -> Capability {
    match tried {
        Ok(()) => EBPF.works("a raw tracepoint program was loaded, attached to sys_enter and removed"),
        Err(error) if error.is_permission() => EBPF.missing(
            error.to_string(),
            "sudo plumb …; or setcap cap_bpf,cap_perfmon,cap_net_admin,cap_sys_admin+ep on the plumb binary",
        ),
        Err(error) => EBPF.missing(
            error.to_string(),
            "a kernel with CONFIG_BPF_SYSCALL, CONFIG_BPF_EVENTS and CONFIG_FTRACE_SYSCALLS",
        ),
    }
}

fn judge_types(found: Result<u16, String>) -> Capability {
    const REMEDY: &str = "a kernel with CONFIG_DEBUG_INFO_BTF";
    match found {
        Ok(MAGIC) => BTF.works(TYPES),
        Ok(other) => BTF.missing(format!("{TYPES} starts with {other:#x}, which is not BTF"), REMEDY),
        Err(reason) => BTF.missing(format!("cannot read {TYPES}: {reason}"), REMEDY),
    }
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    #[test]
    fn recognizes_btf_by_its_magic_number() {
        assert_eq!(judge_types(Ok(0xeb9f)).state, State::Works);
        assert_eq!(judge_types(Ok(0)).state, State::Missing);
        assert_eq!(judge_types(Err("not there".into())).state, State::Missing);
    }

    #[test]
    fn loading_a_program_is_sufficient() {
        assert_eq!(judge_load(Ok(())).state, State::Works);
    }
}
