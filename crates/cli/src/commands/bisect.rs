//! `plumb bisect`: finds the first of several kernels that changes a result.

mod candidates;
mod search;

use std::{collections::BTreeMap, path::PathBuf};

use ::report::value;
use anyhow::{Result, bail};
use clap::Args;
use findings::{ResultComparison, Verdict};
use machine::ConfiguredKernel;
use samples::RunRecord;

use self::{candidates::Candidate, search::Ends};
use super::{check::MOST_LOSS_OF_COUNTS, run};
use crate::{exit::Exit, global_flags::GlobalFlags, output};

/// The number of configuration differences that are printed.
const SHOWN: usize = 20;

#[derive(Debug, Args)]
#[command(after_help = CANDIDATES)]
pub(crate) struct BisectArgs {
    /// A kernel without the change
    good: String,
    /// A kernel with the change
    bad: String,
    /// Folder with the kernels, e.g. /boot
    #[arg(long, value_name = "DIR")]
    over: PathBuf,
    /// Scenario to measure under each kernel, in an emulated machine
    #[arg(long, default_value = "quick")]
    scenario: String,
    /// Measure only this path and the baseline (may be repeated)
    #[arg(long = "path", value_name = "PATH")]
    paths: Vec<String>,
    /// Measure only this workload (may be repeated)
    #[arg(long = "workload", value_name = "WORKLOAD")]
    workloads: Vec<String>,
    /// Measure times in this many trials, instead of counting instructions
    #[arg(long, value_name = "TRIALS", value_parser = clap::value_parser!(u32).range(5..=1000))]
    time: Option<u32>,
}

const CANDIDATES: &str = "A kernel is a file called vmlinuz-RELEASE, with modules in /lib/modules/RELEASE, or a folder \
    with a file vmlinuz and optionally `modules` (a folder), `parameters` (kernel parameters, e.g. \
    sysctl.NAME=VALUE) and `config`. Kernels are sorted by version number.";

pub(crate) fn run(args: &BisectArgs, shared: &GlobalFlags) -> Result<Exit> {
    let kernels = candidates::between(&args.over, &args.good, &args.bad)?;
    let last = kernels.len() - 1;
    let most = search::most_midpoints(kernels.len());
    output::aside(format_args!("{} kernels: measuring both ends and up to {most} others", kernels.len()));
    let measure = |kernel: &Candidate, parameters: &Candidate| measure(args, shared, kernel, parameters);
    let good = measure(&kernels[0], &kernels[0])?;
    let bad = measure(&kernels[last], &kernels[last])?;
    let Some(result) = most_different(&good, &bad, args.time.is_none()) else {
        bail!("{} and {} do not differ in any result", args.good, args.bad);
    };
    let ends = Ends { good: result.a.estimate, bad: result.b.estimate };
    output::line(format_args!("{}, {}, {}", result.path, result.workload, result.metric.name()))?;
    let print = |kernel: &Candidate, estimate: f64| {
        let judgement = if ends.is_bad(estimate) { "bad " } else { "good" };
        output::line(format_args!("  {judgement}  {}: {}", kernel.name, value(result.metric, estimate)))
    };
    print(&kernels[0], ends.good)?;
    print(&kernels[last], ends.bad)?;
    let mut estimates = BTreeMap::from([(0, ends.good), (last, ends.bad)]);
    let first = search::first_bad(last, |middle| {
        let estimate = estimate(&measure(&kernels[middle], &kernels[middle])?, &result)?;
        print(&kernels[middle], estimate)?;
        estimates.insert(middle, estimate);
        anyhow::Ok(ends.is_bad(estimate))
    })?;
    let (before, after) = (&kernels[first - 1], &kernels[first]);
    let ends = Ends { good: estimates[&(first - 1)], bad: estimates[&first] };
    output::line(format_args!("first bad: {}, {:+.1} % from {}", after.name, ends.change(), before.name))?;
    if before.boot.parameters != after.boot.parameters {
        let kernel = ends.is_bad(estimate(&measure(after, before)?, &result)?);
        let parameters = ends.is_bad(estimate(&measure(before, after)?, &result)?);
        output::line(search::cause(kernel, parameters))?;
    }
    let differences = candidates::differences(before, after)?;
    if !differences.is_empty() {
        output::line(format_args!("configuration of {} and {}:", before.name, after.name))?;
    }
    differences.iter().take(SHOWN).try_for_each(|line| output::line(format_args!("  {line}")))?;
    if differences.len() > SHOWN {
        output::line(format_args!("  and {} more", differences.len() - SHOWN))?;
    }
    Ok(Exit::Success)
}

/// Boots the kernel of one candidate with the parameters of another.
fn measure(
    args: &BisectArgs,
    shared: &GlobalFlags,
    kernel: &Candidate,
    parameters: &Candidate,
) -> Result<RunRecord> {
    let boot = ConfiguredKernel { parameters: parameters.boot.parameters.clone(), ..kernel.boot.clone() };
    let run = run::RunArgs::of_bisect((&args.scenario, args.time), &args.paths, &args.workloads, boot);
    run::under_kernel(&run, shared)
}

/// Returns the result with the largest of the significant changes.
fn most_different(good: &RunRecord, bad: &RunRecord, counts: bool) -> Option<ResultComparison> {
    let change = |result: &ResultComparison| (result.b.estimate / result.a.estimate).ln().abs();
    let differs = |result: &ResultComparison| match counts {
        true => change(result) > MOST_LOSS_OF_COUNTS.0,
        false => matches!(result.verdict, Verdict::Better | Verdict::Worse),
    };
    let results = analysis::comparison(good, bad, &[]).results.into_iter().filter(differs);
    results.max_by(|one, other| change(one).total_cmp(&change(other)))
}

fn estimate(record: &RunRecord, of: &ResultComparison) -> Result<f64> {
    let findings = analysis::analyse(record);
    let found = findings.results.iter().find(|result| result.id == of.result);
    match found {
        Some(result) => Ok(result.value.estimate),
        None => bail!("run {} has no result {}", record.header.id, of.result),
    }
}
