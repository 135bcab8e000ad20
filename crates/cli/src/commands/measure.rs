//! `plumb measure`: shows a running virtual machine's configuration, CPU attribution, device traffic and
//! recommended settings, as seen from outside.

mod flags;
mod merged;
mod selection;
mod taps;

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use ::report::{Options, SingleFormat};
use analysis::CallGrouping;
use findings::VmSummary;
use probe::VmReading;
use samples::TraceEnd;

pub(crate) use flags::MeasureArgs;

use self::taps::Taps;
use super::trace;
use crate::{destination, exit::Exit, interrupt, output};

pub(crate) fn run(args: &MeasureArgs) -> anyhow::Result<Exit> {
    let file = args
        .output
        .as_ref()
        .map(|path| Ok::<_, anyhow::Error>((path, destination::page_format_of(path)?)))
        .transpose()?;
    let stop = Arc::new(AtomicBool::new(false));
    interrupt::set_on_signal(&stop)?;
    let selection::SelectedMachine { qemu, monitor } = selection::find(&args.qemu, &stop)?;
    let before = VmReading::of(&qemu).map_err(trace::target::misuse)?;
    let taps = Taps::of(qemu.pid, &before);
    let trace = trace::of_qemu(qemu.clone(), &args.qemu, args.length, &stop)?;
    let after = VmReading::of(&qemu);
    let ended = after.is_err() || matches!(trace.ended, TraceEnd::TargetEnded { .. });
    let mut facts = after.as_ref().unwrap_or(&before).facts(&before);
    taps.put_in(&mut facts);
    if let Some(answers) = &monitor {
        merged::put_in(answers, &mut facts);
    }
    let summary = analysis::vm(&facts, &trace, CallGrouping::Thread);
    let top = usize::from(args.top);
    if let Some((path, format)) = file {
        destination::write(path, &text(&summary, top, format, &destination::in_a_file()))?;
        output::aside(format_args!("written to {}", path.display()));
    }
    let here = if args.json { SingleFormat::Json } else { SingleFormat::Terminal };
    output::coloured(&text(&summary, top, here, &destination::here()))?;
    if ended {
        output::aside(format_args!("error: the virtual machine exited during the measurement"));
        return Ok(Exit::Failure);
    }
    Ok(if stop.load(Ordering::Relaxed) { Exit::Interrupted } else { Exit::Success })
}

fn text(summary: &VmSummary, top: usize, format: SingleFormat, options: &Options) -> String {
    ::report::render_vm(summary, top, format, options)
}
