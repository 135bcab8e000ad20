//! A QEMU plugin that counts executed instructions per code block, and writes the counts of measured windows.
//!
//! A program in the guest marks the start and end of each window with a NOP, and uses a third NOP to request the last
//! window's counts (`sys::counted_window`). The plugin needs one vCPU on one thread. It has no dependencies, not even
//! `std`, so that it loads with any C library. Declarations: include/qemu/qemu-plugin.h of QEMU 7.2, API version 1.
#![no_std]

use core::{
    ffi::{c_char, c_int, c_uint, c_void},
    panic::PanicInfo,
    ptr, slice,
};

const BEGIN: [u8; 8] = *b"\x0f\x1f\x84\x00PLB1";
const END: [u8; 8] = *b"\x0f\x1f\x84\x00PLB2";
const REPORT: [u8; 8] = *b"\x0f\x1f\x84\x00PLB3";
/// The maximum number of blocks. A guest kernel and plumb have fewer than 100,000.
const SLOTS: usize = 1 << 20;

#[repr(C)]
#[derive(Clone, Copy)]
struct Block {
    address: u64,
    instructions: u64,
}

struct State {
    blocks: *mut Block,
    used: usize,
    /// The blocks of the last window, for the next report.
    window: *mut Block,
    executed: usize,
    output: c_int,
    in_window: bool,
}

static mut STATE: State = State {
    blocks: ptr::null_mut(),
    used: 0,
    window: ptr::null_mut(),
    executed: 0,
    output: -1,
    in_window: false,
};

#[unsafe(no_mangle)]
pub static qemu_plugin_version: c_int = 1;

type TranslationCallback = extern "C" fn(u64, *mut c_void);
type ExecutionCallback = extern "C" fn(c_uint, *mut c_void);

unsafe extern "C" {
    fn qemu_plugin_register_vcpu_tb_trans_cb(id: u64, callback: TranslationCallback);
    fn qemu_plugin_tb_n_insns(block: *const c_void) -> usize;
    fn qemu_plugin_tb_vaddr(block: *const c_void) -> u64;
    fn qemu_plugin_tb_get_insn(block: *const c_void, index: usize) -> *mut c_void;
    fn qemu_plugin_insn_data(instruction: *const c_void) -> *const u8;
    fn qemu_plugin_insn_size(instruction: *const c_void) -> usize;
    fn qemu_plugin_register_vcpu_insn_exec_cb(
        instruction: *mut c_void,
        callback: ExecutionCallback,
        flags: c_int,
        data: *mut c_void,
    );
    fn qemu_plugin_register_vcpu_tb_exec_inline(block: *mut c_void, op: c_int, counter: *mut u64, amount: u64);
    fn mmap(address: *mut c_void, length: usize, protection: c_int, flags: c_int, file: c_int, offset: i64)
    -> *mut c_void;
    fn write(file: c_int, bytes: *const c_void, length: usize) -> isize;
    fn abort() -> !;
}

/// The only argument is `output=FD`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qemu_plugin_install(
    id: u64,
    _: *const c_void,
    count: c_int,
    arguments: *const *const c_char,
) -> c_int {
    const READ_WRITE: c_int = 3;
    const PRIVATE_ANONYMOUS: c_int = 0x22;
    if count != 1 {
        return -1;
    }
    unsafe {
        let Some(output) = descriptor(*arguments) else { return -1 };
        let size = 2 * SLOTS * size_of::<Block>();
        let blocks = mmap(ptr::null_mut(), size, READ_WRITE, PRIVATE_ANONYMOUS, -1, 0);
        if blocks as isize == -1 {
            return -1;
        }
        STATE.blocks = blocks.cast();
        STATE.window = STATE.blocks.add(SLOTS);
        STATE.output = output;
        qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    }
    0
}

unsafe fn descriptor(mut text: *const c_char) -> Option<c_int> {
    let mut number = 0;
    unsafe {
        while *text != 0 && *text as u8 != b'=' {
            text = text.add(1);
        }
        if *text == 0 {
            return None;
        }
        text = text.add(1);
        while *text != 0 {
            number = number * 10 + c_int::from((*text as u8).checked_sub(b'0')?);
            text = text.add(1);
        }
    }
    Some(number)
}

extern "C" fn translated(_: u64, block: *mut c_void) {
    unsafe {
        let count = qemu_plugin_tb_n_insns(block);
        let counter = counter_of(qemu_plugin_tb_vaddr(block));
        qemu_plugin_register_vcpu_tb_exec_inline(block, 0, counter, count as u64);
        for index in 0..count {
            let instruction = qemu_plugin_tb_get_insn(block, index);
            if qemu_plugin_insn_size(instruction) != BEGIN.len() {
                continue;
            }
            let bytes = slice::from_raw_parts(qemu_plugin_insn_data(instruction), BEGIN.len());
            let marks: [([u8; 8], ExecutionCallback); 3] = [(BEGIN, begin), (END, end), (REPORT, report)];
            for (mark, callback) in marks {
                if bytes == mark {
                    qemu_plugin_register_vcpu_insn_exec_cb(instruction, callback, 0, ptr::null_mut());
                }
            }
        }
    }
}

/// An address identifies a block, because every block is in the kernel or in the guest's only program.
unsafe fn counter_of(address: u64) -> *mut u64 {
    let mut slot = (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 44) as usize;
    unsafe {
        loop {
            let block = STATE.blocks.add(slot & (SLOTS - 1));
            if (*block).address == address {
                return &raw mut (*block).instructions;
            }
            if (*block).address == 0 {
                if STATE.used == SLOTS / 2 {
                    abort();
                }
                STATE.used += 1;
                (*block).address = address;
                return &raw mut (*block).instructions;
            }
            slot += 1;
        }
    }
}

extern "C" fn begin(_: c_uint, _: *mut c_void) {
    unsafe {
        STATE.in_window = true;
        for slot in 0..SLOTS {
            (*STATE.blocks.add(slot)).instructions = 0;
        }
    }
}

extern "C" fn end(_: c_uint, _: *mut c_void) {
    unsafe {
        if !STATE.in_window {
            return;
        }
        STATE.in_window = false;
        STATE.executed = 0;
        for slot in 0..SLOTS {
            let block = *STATE.blocks.add(slot);
            if block.instructions > 0 {
                *STATE.window.add(STATE.executed) = block;
                STATE.executed += 1;
            }
        }
    }
}

/// Writes the number of blocks, then the blocks, as `u64` in the CPU's byte order.
extern "C" fn report(_: c_uint, _: *mut c_void) {
    unsafe {
        let window = slice::from_raw_parts(STATE.window, STATE.executed);
        STATE.executed = 0;
        send(&(window.len() as u64));
        window.iter().for_each(|block| send(block));
    }
}

unsafe fn send<T>(value: &T) {
    let mut bytes = unsafe { slice::from_raw_parts(ptr::from_ref(value).cast::<u8>(), size_of::<T>()) };
    while !bytes.is_empty() {
        let written = unsafe { write(STATE.output, bytes.as_ptr().cast(), bytes.len()) };
        if written <= 0 {
            unsafe { abort() }
        }
        bytes = &bytes[written as usize..];
    }
}

/// `core` refers to this, although nothing unwinds.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    unsafe { abort() }
}
