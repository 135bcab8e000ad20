//! Tools that trace two processes until both have exited, and checks that they did.

use std::process::Command;

use anyhow::ensure;
use sys::netns::NetNs;

use super::{BPFTRACE, NOBODY, PERF, PLUMB, STRACE};
use crate::process::{self, ProgramOutput, Running};

#[derive(Debug)]
pub(super) struct Tool {
    pub(super) name: &'static str,
    command: fn([u32; 2]) -> anyhow::Result<Option<Command>>,
    counted: &'static str,
}

pub(super) const TOOLS: &[Tool] = &[
    Tool { name: NOBODY, command: |_| Ok(None), counted: "" },
    Tool { name: PLUMB, command: |pids| plumb(pids).map(Some), counted: "\"call\": \"recv" },
    Tool { name: BPFTRACE, command: |pids| Ok(Some(bpftrace(pids))), counted: "@calls[" },
    Tool { name: PERF, command: |pids| Ok(Some(perf(pids))), counted: "recv" },
    Tool { name: STRACE, command: |pids| Ok(Some(strace(pids))), counted: "recv" },
];

impl Tool {
    pub(super) fn watch(&self, pids: [u32; 2]) -> anyhow::Result<Option<Running>> {
        let Some(mut command) = (self.command)(pids)? else { return Ok(None) };
        let here = NetNs::current()?;
        Running::start(&mut command, &here).map(Some)
    }

    pub(super) fn check(&self, printed: &ProgramOutput) -> anyhow::Result<()> {
        let counted = [&printed.output, &printed.error].iter().any(|text| text.contains(self.counted));
        ensure!(counted, "it counted nothing: {}", printed.error.trim());
        Ok(())
    }
}

fn plumb([one, other]: [u32; 2]) -> anyhow::Result<Command> {
    let mut command = Command::new(process::plumb()?);
    command.args(["trace", "--pid", &format!("{one},{other}"), "--probe", "syscalls"]);
    command.args(["--for", "60", "--every", "0", "--json"]);
    Ok(command)
}

/// Counts calls by process and name, as in bpftrace's manual. Does not distinguish running from waiting.
fn bpftrace([one, other]: [u32; 2]) -> Command {
    let program = format!(
        "tracepoint:raw_syscalls:sys_enter /pid == {one} || pid == {other}/ {{ @begun[tid] = nsecs; }}
         tracepoint:raw_syscalls:sys_exit /@begun[tid]/ {{
             @calls[pid, args->id] = count();
             @time[pid, args->id] = sum(nsecs - @begun[tid]);
             delete(@begun[tid]);
         }}"
    );
    let mut command = Command::new("bpftrace");
    command.args(["-p", &one.to_string(), "-e", &program]);
    command
}

fn perf([one, other]: [u32; 2]) -> Command {
    let mut command = Command::new("perf");
    command.args(["trace", "--summary", "--pid", &format!("{one},{other}")]);
    command
}

fn strace([one, other]: [u32; 2]) -> Command {
    let mut command = Command::new("strace");
    command.args(["-c", "-f", "-p", &one.to_string(), "-p", &other.to_string()]);
    command
}
