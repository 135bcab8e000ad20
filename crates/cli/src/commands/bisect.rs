//! `plumb bisect`: finds the first of several kernels that changes a result.

mod candidates;
mod measurements;
mod record;

use std::path::PathBuf;

use analysis::{Bisection, Step};
use anyhow::Result;
use clap::Args;
use findings::ResultComparison;
use lab::Stop;

use self::{candidates::Candidate, measurements::Measurements};
use crate::{exit::Exit, global_flags::GlobalFlags, interrupt, output};

#[derive(Debug, Args)]
#[command(after_help = KERNELS)]
pub(crate) struct BisectArgs {
    /// A kernel without the change
    good: String,
    /// A kernel with the change
    bad: String,
    /// Folder with the kernels, e.g. /boot
    #[arg(long, value_name = "DIR")]
    over: PathBuf,
    /// Scenario to measure in an emulated machine, under each kernel
    #[arg(long, default_value = "quick")]
    scenario: String,
    /// Compare only this path (may be repeated). The baseline is measured, too
    #[arg(long = "path", value_name = "PATH")]
    paths: Vec<String>,
    /// Compare only this workload (may be repeated)
    #[arg(long = "workload", value_name = "WORKLOAD")]
    workloads: Vec<String>,
    /// Measure times in this many trials per result, instead of counting instructions
    #[arg(long, value_name = "TRIALS", value_parser = clap::value_parser!(u32).range(5..=1000))]
    time: Option<u32>,
}

const KERNELS: &str = "A kernel is a file vmlinuz-NAME, or a folder NAME with a file vmlinuz and optionally \
    `parameters` (kernel parameters), `config` (the build configuration) and `modules` (a folder; only optional if \
    vmlinuz is a link to a file vmlinuz-RELEASE). Kernels are sorted by version number.";

const MOST_CHANGES: usize = 20;

pub(crate) fn run(args: &BisectArgs, shared: &GlobalFlags) -> Result<Exit> {
    let stop = Stop::new();
    interrupt::set_on_signal(&stop.flag())?;
    match bisect(args, shared, &stop) {
        Err(_) if stop.is_asked() => {
            output::aside("interrupted");
            Ok(Exit::Interrupted)
        }
        bisected => bisected.map(|()| Exit::Success),
    }
}

fn bisect(args: &BisectArgs, shared: &GlobalFlags, stop: &Stop) -> Result<()> {
    let kernels = candidates::between(&args.over, &args.good, &args.bad)?;
    let (first, last) = (&kernels[0], &kernels[kernels.len() - 1]);
    let most = analysis::most_midpoints(kernels.len());
    output::aside(format_args!("{} kernels: measuring both ends and at most {most} others", kernels.len()));
    let mut measurements = Measurements::prepare(args, shared, stop)?;
    let result = measurements.ends(first, last)?;
    let whole = Step { good: result.a.estimate, bad: result.b.estimate };
    output::line(format_args!("{}, {}", measurements::label(&result), result.metric.name()))?;
    print(&result, first, whole.good, false)?;
    print(&result, last, whole.bad, true)?;
    let mut bisection = Bisection::new(kernels.len(), whole);
    while let Some(middle) = bisection.next() {
        let value = measurements.value(&result, &kernels[middle], &kernels[middle])?;
        print(&result, &kernels[middle], value, bisection.add(middle, value))?;
    }
    let (culprit, step) = bisection.first_bad();
    let (before, after) = (&kernels[culprit - 1], &kernels[culprit]);
    let change = step.change() * 100.0;
    output::line(format_args!("first bad: {}, {change:+.1} % from {}", after.name, before.name))?;
    if step.is_most_of(whole) {
        let cause = cause(&measurements, &result, step, [before, after])?;
        output::line(format_args!("cause: {cause}"))?;
    } else {
        output::line("cause: several kernels change the result; this is less than half of the whole change")?;
    }
    print_changes(before, after)
}

fn print(result: &ResultComparison, kernel: &Candidate, value: f64, is_bad: bool) -> Result<()> {
    let judgement = if is_bad { "bad " } else { "good" };
    let value = report::plain_value(result.metric, value);
    Ok(output::line(format_args!("  {judgement}  {}: {value}", kernel.name))?)
}

/// If both kernels and parameters differ, measures each kernel with the other's parameters.
fn cause(
    measurements: &Measurements<'_>,
    result: &ResultComparison,
    step: Step,
    [before, after]: [&Candidate; 2],
) -> Result<&'static str> {
    let is_bad =
        |kernel, parameters| anyhow::Ok(step.is_bad(measurements.value(result, kernel, parameters)?));
    let (kernel, parameters) = if before.boot.kernel == after.boot.kernel {
        (false, true)
    } else if before.boot.parameters == after.boot.parameters {
        (true, false)
    } else {
        (is_bad(after, before)?, is_bad(before, after)?)
    };
    Ok(match (kernel, parameters) {
        (true, false) => "the kernel",
        (false, true) => "the kernel parameters",
        (true, true) => "the kernel or the kernel parameters; each alone changes the result",
        (false, false) => "the kernel and the kernel parameters; only both together change the result",
    })
}

fn print_changes(before: &Candidate, after: &Candidate) -> Result<()> {
    let changes = candidates::changes(before, after)?;
    if !changes.is_empty() {
        output::line(format_args!("configuration of {} -> {}:", before.name, after.name))?;
    }
    changes.iter().take(MOST_CHANGES).try_for_each(|line| output::line(format_args!("  {line}")))?;
    if changes.len() > MOST_CHANGES {
        output::line(format_args!("  and {} more", changes.len() - MOST_CHANGES))?;
    }
    Ok(())
}
