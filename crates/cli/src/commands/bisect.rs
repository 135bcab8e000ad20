//! `plumb bisect`: finds the first of several kernels that changes a result.

mod candidates;
mod measurements;
mod search;

use std::{collections::BTreeMap, path::PathBuf};

use anyhow::Result;
use clap::Args;
use lab::Stop;

use self::{candidates::Candidate, measurements::Measurements, search::Ends};
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
    /// Measure only this path (may be repeated)
    #[arg(long = "path", value_name = "PATH")]
    paths: Vec<String>,
    /// Measure only this workload (may be repeated)
    #[arg(long = "workload", value_name = "WORKLOAD")]
    workloads: Vec<String>,
    /// Measure times in this many trials per result, instead of counting instructions
    #[arg(long, value_name = "TRIALS", value_parser = clap::value_parser!(u32).range(5..=1000))]
    time: Option<u32>,
}

const KERNELS: &str = "A kernel is a file vmlinuz-NAME, or a folder NAME with a file vmlinuz and optionally `modules` \
    (a folder; by default /lib/modules/RELEASE), `parameters` (kernel parameters) and `config`. Kernels are sorted by \
    version number.";

/// The number of configuration changes that are printed.
const SHOWN: usize = 20;

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
    let measurements = Measurements::prepare(args, shared, stop)?;
    let (first, last) = (&kernels[0], &kernels[kernels.len() - 1]);
    let most = search::most_midpoints(kernels.len());
    output::aside(format_args!(
        "measuring {} and {}, and up to {most} kernels between them",
        first.name, last.name
    ));
    let good = measurements.measure(first, first)?;
    let bad = measurements.measure(last, last)?;
    let result = measurements.most_different(&good, &bad)?;
    let ends = Ends { good: result.a.estimate, bad: result.b.estimate };
    output::line(format_args!("{}, {}, {}", result.path, result.workload, result.metric.name()))?;
    let print = |kernel: &Candidate, estimate: f64| {
        let judgement = if ends.is_bad(estimate) { "bad " } else { "good" };
        let value = report::plain_value(result.metric, estimate);
        output::line(format_args!("  {judgement}  {}: {value}", kernel.name))
    };
    print(first, ends.good)?;
    print(last, ends.bad)?;
    let mut estimates = BTreeMap::from([(0, ends.good), (kernels.len() - 1, ends.bad)]);
    let culprit = search::first_bad(kernels.len() - 1, |middle| {
        let estimate = measurements.estimate(&good, &result, &kernels[middle], &kernels[middle])?;
        print(&kernels[middle], estimate)?;
        estimates.insert(middle, estimate);
        anyhow::Ok(ends.is_bad(estimate))
    })?;
    let (before, after) = (&kernels[culprit - 1], &kernels[culprit]);
    let step = Ends { good: estimates[&(culprit - 1)], bad: estimates[&culprit] };
    output::line(format_args!("first bad: {}, {:+.1} % from {}", after.name, step.change(), before.name))?;
    if step.share_of(ends) < 0.5 {
        output::line("Other kernels between the ends change the result, too.")?;
    } else if before.boot != after.boot {
        let swapped = |kernel, parameters| measurements.estimate(&good, &result, kernel, parameters);
        let cause = match before.boot.kernel == after.boot.kernel {
            true => search::PARAMETERS,
            false if before.boot.parameters == after.boot.parameters => search::KERNEL,
            false => {
                search::cause(step.is_bad(swapped(after, before)?), step.is_bad(swapped(before, after)?))
            }
        };
        output::line(format_args!("cause: {cause}"))?;
    }
    print_changes(before, after)
}

fn print_changes(before: &Candidate, after: &Candidate) -> Result<()> {
    let changes = candidates::changes(before, after)?;
    if !changes.is_empty() {
        output::line(format_args!("configuration of {} -> {}:", before.name, after.name))?;
    }
    changes.iter().take(SHOWN).try_for_each(|line| output::line(format_args!("  {line}")))?;
    if changes.len() > SHOWN {
        output::line(format_args!("  and {} more", changes.len() - SHOWN))?;
    }
    Ok(())
}
