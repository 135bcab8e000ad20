//! Test guests: their code, their page tables, and the meaning of their exits. They run only on x86-64.
#![expect(unsafe_code, reason = "memory shared with a guest")]

use std::time::Duration;

use kvm_bindings::{
    KVM_API_VERSION, KVM_MAX_CPUID_ENTRIES, kvm_regs, kvm_segment, kvm_sregs, kvm_userspace_memory_region,
};
use kvm_ioctls::{Kvm, VcpuExit, VcpuFd, VmFd};
use rustix::mm::{MapFlags, ProtFlags};

use super::{DEVICE, RUN};
use crate::clock;
use crate::error::{Context, Error, Result};

struct Guest {
    description: &'static str,
    code: &'static [u8],
    long: bool,
    answer: u64,
}

const REAL_MODE: Guest = Guest {
    description: "real-mode code (like firmware)",
    code: &[
        0xb8, 0x34, 0x12, // mov ax, 0x1234
        0xf4, // hlt
    ],
    long: false,
    answer: 0x1234,
};

const SSE: Guest = Guest {
    description: "64-bit kernel code with an SSE2 instruction",
    code: &[
        0xb8, 0x21, 0x00, 0x00, 0x00, // mov eax, 0x21
        0x66, 0x48, 0x0f, 0x6e, 0xc0, // movq xmm0, rax
        0x66, 0x0f, 0xd4, 0xc0, // paddq xmm0, xmm0
        0x66, 0x48, 0x0f, 0x7e, 0xc0, // movq rax, xmm0
        0xf4, // hlt
    ],
    long: true,
    answer: 0x42,
};

/// A loop that takes less than a millisecond on a CPU, a few milliseconds on an emulated CPU, and nearly a
/// second if KVM interprets every instruction.
const LOOP: Guest = Guest {
    description: "a loop with a million iterations in 64-bit kernel code",
    code: &[
        0xb9, 0x40, 0x42, 0x0f, 0x00, // mov ecx, 1000000
        0xff, 0xc9, // dec ecx
        0x75, 0xfc, // jnz to the dec
        0x89, 0xc8, // mov eax, ecx
        0xf4, // hlt
    ],
    long: true,
    answer: 0,
};
const LOOP_AT_MOST: Duration = Duration::from_millis(200);
const LOOPS: u32 = 6;

const MEMORY: usize = 0x20_0000;
const CODE: usize = 0x1000;
const TABLES: [usize; 3] = [0x2000, 0x3000, 0x4000];
const STACK: u64 = 0x8000;
const TASK_STATE: usize = 0xfffb_d000;

pub(super) fn run_all() -> Result<()> {
    let kvm = Kvm::new().map_err(|error| refused("open", &error))?;
    if kvm.get_api_version() != KVM_API_VERSION as i32 {
        let hint = format!("the API version is {}, not {KVM_API_VERSION}", kvm.get_api_version());
        return Err(Error::new("use", DEVICE, libc::EPROTO).with_hint(hint));
    }
    run(&kvm, &REAL_MODE)?;
    run(&kvm, &SSE)?;
    let mut least = Duration::MAX;
    for _ in 0..LOOPS {
        least = least.min(run(&kvm, &LOOP)?);
        if least <= LOOP_AT_MOST {
            return Ok(());
        }
    }
    let took = least.as_millis();
    Err(unfit(format!("{} took at least {took} ms: it is interpreted, not run by the CPU", LOOP.description)))
}

fn run(kvm: &Kvm, guest: &Guest) -> Result<Duration> {
    let memory = Memory::new()?;
    memory.fill(guest);
    let vm = kvm.create_vm().map_err(|error| refused("create a virtual machine with", &error))?;
    memory.give_to(&vm)?;
    // For real mode, Intel CPUs without unrestricted guest mode need three pages outside the guest's memory.
    vm.set_tss_address(TASK_STATE).map_err(|error| refused("set up a virtual machine of", &error))?;
    let mut vcpu = vm.create_vcpu(0).map_err(|error| refused("create a virtual CPU with", &error))?;
    set_up(kvm, &vcpu, guest).map_err(|error| refused("set up a virtual CPU of", &error))?;
    let begin = clock::monotonic();
    let exit = vcpu.run().map_err(|error| refused(RUN, &error))?;
    let took = Duration::from_nanos(clock::monotonic() - begin);
    if !matches!(exit, VcpuExit::Hlt) {
        return Err(unfit(format!("KVM gave up on {}: {}", guest.description, describe(&exit))));
    }
    let rax = vcpu.get_regs().map_err(|error| refused("read registers of", &error))?.rax;
    if rax == guest.answer {
        return Ok(took);
    }
    Err(unfit(format!("{} computed {rax:#x} instead of {:#x}", guest.description, guest.answer)))
}

fn set_up(kvm: &Kvm, vcpu: &VcpuFd, guest: &Guest) -> std::result::Result<(), kvm_ioctls::Error> {
    let cpuid = kvm.get_supported_cpuid(KVM_MAX_CPUID_ENTRIES)?;
    vcpu.set_cpuid2(&cpuid)?;
    let mut special = vcpu.get_sregs()?;
    if guest.long {
        enter_long_mode(&mut special);
    } else {
        (special.cs.base, special.cs.selector) = (0, 0);
    }
    vcpu.set_sregs(&special)?;
    // Bit 1 of RFLAGS is always set.
    vcpu.set_regs(&kvm_regs { rip: CODE as u64, rsp: STACK, rflags: 2, ..Default::default() })
}

/// Enables ring 0, paging and SSE, see Intel's manual, volume 3, sections 2.5, 3.4.5 and 10.8.5.
fn enter_long_mode(special: &mut kvm_sregs) {
    const CR0_PE_MP_ET_NE_WP_PG: u64 = 0x8001_0033;
    const CR4_PAE_OSFXSR_OSXMMEXCPT: u64 = 0x620;
    const EFER_LME_LMA: u64 = 0x500;
    special.cr3 = TABLES[0] as u64;
    special.cr4 = CR4_PAE_OSFXSR_OSXMMEXCPT;
    special.cr0 = CR0_PE_MP_ET_NE_WP_PG;
    special.efer = EFER_LME_LMA;
    let flat = kvm_segment { limit: u32::MAX, present: 1, s: 1, g: 1, ..Default::default() };
    special.cs = kvm_segment { selector: 8, type_: 11, l: 1, ..flat };
    let data = kvm_segment { selector: 16, type_: 3, db: 1, ..flat };
    (special.ds, special.es, special.fs, special.gs, special.ss) = (data, data, data, data, data);
}

fn describe(exit: &VcpuExit<'_>) -> String {
    match exit {
        VcpuExit::InternalError => {
            "unsupported instruction in interpreted code (KVM_EXIT_INTERNAL_ERROR)".to_owned()
        }
        VcpuExit::Shutdown => "the guest crashed (KVM_EXIT_SHUTDOWN)".to_owned(),
        VcpuExit::FailEntry(reason, _) => format!("the CPU failed to enter the guest (reason {reason:#x})"),
        other => format!("exit {other:?}"),
    }
}

fn unfit(hint: String) -> Error {
    Error::new("run an ordinary guest in", DEVICE, libc::EOPNOTSUPP).with_hint(hint)
}

fn refused(operation: &'static str, error: &kvm_ioctls::Error) -> Error {
    Error::new(operation, DEVICE, error.errno())
}

struct Memory {
    at: *mut libc::c_void,
}

impl Memory {
    fn new() -> Result<Self> {
        let (access, kind) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: the kernel chooses the address, so no other mapping is affected.
        let at = unsafe { rustix::mm::mmap_anonymous(std::ptr::null_mut(), MEMORY, access, kind) };
        Ok(Self { at: at.named("map", || "the memory of a guest")? })
    }

    fn fill(&self, guest: &Guest) {
        const PRESENT_WRITABLE: u64 = 0x3;
        const LARGE: u64 = 0x80;
        self.write(CODE, guest.code);
        let [top, middle, low] = TABLES;
        for (table, entry) in [
            (top, middle as u64 | PRESENT_WRITABLE),
            (middle, low as u64 | PRESENT_WRITABLE),
            (low, PRESENT_WRITABLE | LARGE),
        ] {
            self.write(table, &entry.to_le_bytes());
        }
    }

    fn write(&self, to: usize, bytes: &[u8]) {
        assert!(to + bytes.len() <= MEMORY, "fits the guest memory");
        // SAFETY: the range is within the mapping, as checked above, and no guest runs yet.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.at.cast::<u8>().add(to), bytes.len()) }
    }

    fn give_to(&self, vm: &VmFd) -> Result<()> {
        let region = kvm_userspace_memory_region {
            slot: 0,
            flags: 0,
            guest_phys_addr: 0,
            memory_size: MEMORY as u64,
            userspace_addr: self.at as u64,
        };
        // SAFETY: the mapping outlives the VM: `run` drops it last.
        unsafe { vm.set_user_memory_region(region) }.map_err(|error| refused("set guest memory of", &error))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: this value owns the mapping, and its VM has been dropped.
        let unmapped = unsafe { rustix::mm::munmap(self.at, MEMORY) };
        debug_assert!(unmapped.is_ok());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simple_guests_halt_with_expected_result() {
        let Ok(kvm) = Kvm::new() else { return };
        if kvm.create_vm().is_err() {
            return;
        }
        for guest in [&REAL_MODE, &LOOP] {
            let took = run(&kvm, guest).expect(guest.description);
            assert!(took > Duration::ZERO, "{}", guest.description);
        }
    }

    #[test]
    fn rejects_wrong_result() {
        let Ok(kvm) = Kvm::new() else { return };
        let error = run(&kvm, &Guest { answer: 1, ..REAL_MODE }).expect_err("wrong result");
        assert!(error.to_string().contains(DEVICE), "{error}");
    }
}
