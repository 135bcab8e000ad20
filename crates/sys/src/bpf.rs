//! Whether this process may load and attach eBPF programs, found out by doing it.
//!
//! It must not know what programs are wanted for. See bpf(2).
#![expect(unsafe_code, reason = "bpf(2) has no wrapper")]

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::error::{Error, Result};

/// Loads a raw tracepoint program of two instructions, attaches it to `sys_enter`, and takes both back.
///
/// EPERM is a lack of CAP_BPF and CAP_PERFMON (or root) in the first user namespace; ENOSYS and EINVAL are a
/// kernel without `CONFIG_BPF_SYSCALL` or `CONFIG_BPF_EVENTS`.
pub fn try_load() -> Result<()> {
    let program = load()?;
    attach(&program).map(drop)
}

/// Of linux/bpf.h.
const BPF_PROG_LOAD: libc::c_long = 5;
const BPF_RAW_TRACEPOINT_OPEN: libc::c_long = 17;
const BPF_PROG_TYPE_RAW_TRACEPOINT: u32 = 17;

/// `r0 = 0; exit`, in the kernel's encoding of instructions.
const INSTRUCTIONS: [u64; 2] = [0xb7, 0x95];

/// The head of `union bpf_attr` for `BPF_PROG_LOAD`.
#[repr(C)]
struct Load {
    kind: u32,
    instructions: u32,
    code: u64,
    license: u64,
}

/// The head of `union bpf_attr` for `BPF_RAW_TRACEPOINT_OPEN`.
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

/// A call that gives a descriptor; the error is the kernel's number.
fn bpf<T>(command: libc::c_long, request: &T) -> std::result::Result<OwnedFd, i32> {
    // SAFETY: the kernel reads `size_of::<T>()` bytes and takes the rest of its union as zero; the pointers
    // inside are to constants.
    let fd = unsafe { libc::syscall(libc::SYS_bpf, command, std::ptr::from_ref(request), size_of::<T>()) };
    match i32::try_from(fd) {
        // SAFETY: a descriptor that the kernel has just made for this call alone.
        Ok(fd) if fd >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
        _ => Err(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_one_that_the_kernel_accepts_or_the_reason_is_one_of_rights() {
        match try_load() {
            Ok(()) => {}
            Err(error) => assert!(
                error.is_permission() || matches!(error.errno(), libc::ENOSYS | libc::EINVAL),
                "{error}: a wrong program or request"
            ),
        }
    }

    #[test]
    fn a_tracepoint_that_does_not_exist_is_refused() {
        let Ok(program) = load() else { return };
        let request = Attach {
            name: c"no_such_tracepoint".as_ptr() as u64,
            program: program.as_raw_fd().unsigned_abs(),
            padding: 0,
        };
        assert_eq!(bpf(BPF_RAW_TRACEPOINT_OPEN, &request).err(), Some(libc::ENOENT));
    }
}
