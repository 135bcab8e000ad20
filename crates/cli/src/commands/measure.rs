//! `plumb measure`: a virtual machine that runs anyway, looked at from outside: what it is, who has its CPU time, what its
//! devices carry, and what to set instead.

mod flags;
mod merged;
mod named;
mod taps;

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use ::report::{Options, SoloFormat};
use analysis::CallsBy;
use findings::VmSummary;
use probe::VmReading;
use samples::TraceEnd;

pub(crate) use flags::MeasureArgs;

use self::taps::Taps;
use super::trace;
use crate::{exit::Exit, interrupt, output, say};

/// Looks, and prints.
pub(crate) fn run(args: &MeasureArgs) -> anyhow::Result<Exit> {
    let file = args
        .output
        .as_ref()
        .map(|path| Ok::<_, anyhow::Error>((path, output::page_format_of(path)?)))
        .transpose()?;
    let stop = Arc::new(AtomicBool::new(false));
    interrupt::asks(&stop)?;
    let named::Named { qemu, monitor } = named::find(&args.qemu)?;
    let before = VmReading::of(&qemu).map_err(trace::target::misuse)?;
    let taps = Taps::of(qemu.pid, &before);
    let trace = trace::of_qemu(qemu.clone(), &args.qemu, args.length, &stop)?;
    let after = VmReading::of(&qemu);
    let ended = after.is_err() || matches!(trace.ended, TraceEnd::TargetEnded { .. });
    let mut facts = after.as_ref().unwrap_or(&before).facts(&before);
    taps.put_in(&mut facts);
    if let Some(said) = &monitor {
        merged::put_in(said, &mut facts);
    }
    let summary = analysis::vm(&facts, &trace, CallsBy::Thread);
    let top = usize::from(args.top);
    if let Some((path, format)) = file {
        output::write(path, &text(&summary, top, format, &output::in_a_file()))?;
        say::aside(format_args!("written to {}", path.display()));
    }
    let here = if args.json { SoloFormat::Json } else { SoloFormat::Terminal };
    say::text(text(&summary, top, here, &output::here()))?;
    if ended {
        say::aside(format_args!("error: the virtual machine ended meanwhile"));
        return Ok(Exit::Failure);
    }
    Ok(if stop.load(Ordering::Relaxed) { Exit::Interrupted } else { Exit::Success })
}

fn text(summary: &VmSummary, top: usize, format: SoloFormat, options: &Options) -> String {
    ::report::render_vm(summary, top, format, options)
}
