//! Checks whether this process can load and attach eBPF programs.
#![expect(unsafe_code, reason = "bpf(2) has no wrapper")]

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::error::{Error, Result};

/// Loads a program, attaches it and removes it again. EPERM means that the process needs CAP_BPF and CAP_PERFMON
/// (or root) in the initial user namespace. ENOSYS and EINVAL mean that the kernel was built without
/// `CONFIG_BPF_SYSCALL` or `CONFIG_BPF_EVENTS`.
pub fn try_load() -> Result<()> {
    let program = load()?;
    attach(&program).map(drop)
}

const BPF_PROG_LOAD: libc::c_long = 5;
const BPF_RAW_TRACEPOINT_OPEN: libc::c_long = 17;
const BPF_PROG_TYPE_RAW_TRACEPOINT: u32 = 17;

const INSTRUCTIONS: [u64; 2] = [0xb7, 0x95];

#[repr(C)]
struct Load {
    kind: u32,
    instructions: u32,
    code: u64,
    license: u64,
}

#[repr(C)]
struct Attach {
    name: u64,
    program: u32,
    padding: u32,
}

fn load() -> Result<OwnedFd> {
    let request = Load {
        kind: BPF_PROG_TYPE_RAW_TRACEPOINT,
        instructions: INSTRUCTIONS.len() as u32,
        code: INSTRUCTIONS.as_ptr() as u64,
        license: c"GPL".as_ptr() as u64,
    };
    bpf(BPF_PROG_LOAD, &request).map_err(|errno| Error::new("load", "a raw tracepoint program", errno))
}

fn attach(program: &OwnedFd) -> Result<OwnedFd> {
    let request = Attach {
        name: c"sys_enter".as_ptr() as u64,
        program: program.as_raw_fd().unsigned_abs(),
        padding: 0,
    };
    let object = "a raw tracepoint program to sys_enter";
    bpf(BPF_RAW_TRACEPOINT_OPEN, &request).map_err(|errno| Error::new("attach", object, errno))
}

fn bpf<T>(command: libc::c_long, request: &T) -> std::result::Result<OwnedFd, i32> {
    // SAFETY: the kernel reads `size_of::<T>()` bytes and treats the rest of its union as zero; the contained
    // pointers refer to constants.
    let fd = unsafe { libc::syscall(libc::SYS_bpf, command, std::ptr::from_ref(request), size_of::<T>()) };
    match i32::try_from(fd) {
        // SAFETY: the kernel has just created this descriptor.
        Ok(fd) if fd >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
        _ => Err(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_program_or_fails_for_lack_of_privileges() {
        match try_load() {
            Ok(()) => {}
            Err(error) => assert!(
                error.is_permission() || matches!(error.errno(), libc::ENOSYS | libc::EINVAL),
                "{error}: a wrong program or request"
            ),
        }
    }

    #[test]
    fn rejects_unknown_tracepoint() {
        let Ok(program) = load() else { return };
        let request = Attach {
            name: c"no_such_tracepoint".as_ptr() as u64,
            program: program.as_raw_fd().unsigned_abs(),
            padding: 0,
        };
        assert_eq!(bpf(BPF_RAW_TRACEPOINT_OPEN, &request).err(), Some(libc::ENOENT));
    }
}
