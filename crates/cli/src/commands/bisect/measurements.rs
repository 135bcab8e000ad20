//! Measures a scenario under a kernel, and compares the results.

use std::convert::Infallible;

use ::scenario::Plan;
use anyhow::{Result, anyhow, bail};
use findings::{ResultComparison, Verdict};
use lab::{ExistingHostUse, Inside, Request, Stop};
use machine::ConfiguredKernel;
use samples::{MachineChange, ResultEnd, RunHeader, RunId, RunRecord, Sink, SkippedResult, Trial};

use super::{BisectArgs, candidates::Candidate};
use crate::{
    commands::{
        check::MOST_LOSS_OF_COUNTS,
        run::{RunArgs, planned},
    },
    global_flags::GlobalFlags,
    output,
    program::{PROGRAM, TOOL},
    source::Source,
};

pub(super) struct Measurements<'a> {
    args: &'a BisectArgs,
    stop: &'a Stop,
    source: Source,
    plan: Plan,
}

impl<'a> Measurements<'a> {
    pub(super) fn prepare(args: &'a BisectArgs, shared: &GlobalFlags, stop: &'a Stop) -> Result<Self> {
        let run = RunArgs::of_bisect(&args.scenario, args.time, &args.paths, &args.workloads);
        let (source, plan) = planned(&run, shared)?;
        Ok(Self { args, stop, source, plan })
    }

    /// Boots the kernel of one candidate with the parameters of another. The record is not stored, because `plumb run
    /// --resume` would continue it under the default kernel.
    pub(super) fn measure(&self, kernel: &Candidate, parameters: &Candidate) -> Result<RunRecord> {
        let with = if kernel.name == parameters.name {
            String::new()
        } else {
            format!(" with the parameters of {}", parameters.name)
        };
        output::aside(format_args!("measuring {}{with}", kernel.name));
        let request = Request {
            scenario: &self.source.scenario,
            text: &self.source.text,
            plan: &self.plan,
            id: RunId("bisect".to_owned()),
            remedy_trials: None,
            resume: None,
            agent: PROGRAM.into(),
            firecracker: None,
            tool: TOOL,
            keep_disturbed: false,
            hosts: ExistingHostUse::default(),
            fleet: None,
            attachments: Default::default(),
            inside: None,
        };
        let boot = ConfiguredKernel { parameters: parameters.boot.parameters.clone(), ..kernel.boot.clone() };
        let inside =
            Inside { reason: "to bisect".to_owned(), counts: self.args.time.is_none(), kernel: Some(boot) };
        let mut record = Record(None);
        lab::run_inside(&request, &inside, &mut record, &mut |_: &lab::Event<'_>| (), self.stop)
            .map_err(|error| anyhow!("cannot measure under the kernel {}: {error}", kernel.name))?;
        record.0.ok_or_else(|| anyhow!("nothing was measured under the kernel {}", kernel.name))
    }

    pub(super) fn estimate(
        &self,
        good: &RunRecord,
        of: &ResultComparison,
        kernel: &Candidate,
        parameters: &Candidate,
    ) -> Result<f64> {
        let record = self.measure(kernel, parameters)?;
        let found = self.compared(good, &record).into_iter().find(|result| result.result == of.result);
        let missing =
            || anyhow!("{}, {} could not be measured under the kernel {}", of.path, of.workload, kernel.name);
        found.map(|result| result.b.estimate).ok_or_else(missing)
    }

    /// Returns the result with the largest of the significant changes.
    pub(super) fn most_different(&self, good: &RunRecord, bad: &RunRecord) -> Result<ResultComparison> {
        let change = |result: &ResultComparison| (result.b.estimate / result.a.estimate).ln().abs();
        let differs = |result: &ResultComparison| match self.args.time {
            None => change(result) > MOST_LOSS_OF_COUNTS.0,
            Some(_) => matches!(result.verdict, Verdict::Better | Verdict::Worse),
        };
        let mut results = self.compared(good, bad);
        results.sort_by(|one, other| change(other).total_cmp(&change(one)));
        let (good, bad) = (&self.args.good, &self.args.bad);
        match (results.iter().find(|result| differs(result)), results.first()) {
            (Some(result), _) => Ok(result.clone()),
            (None, Some(largest)) => bail!(
                "{good} and {bad} do not differ: the largest change is {:+.2} %, of {}, {}{}",
                (largest.b.estimate / largest.a.estimate - 1.0) * 100.0,
                largest.path,
                largest.workload,
                largest.reason.as_ref().map(|reason| format!("; {reason}")).unwrap_or_default()
            ),
            (None, None) => bail!("no result could be measured under both {good} and {bad}"),
        }
    }

    /// Compares the results of the selected paths.
    fn compared(&self, good: &RunRecord, other: &RunRecord) -> Vec<ResultComparison> {
        let paths = &self.args.paths;
        let mut results = analysis::comparison(good, other, &[]).results;
        results.retain(|result| {
            let is_selected = paths.is_empty() || paths.contains(&result.path);
            is_selected && result.a.estimate > 0.0 && result.b.estimate > 0.0
        });
        results
    }
}

/// Keeps a run in memory.
struct Record(Option<RunRecord>);

impl Record {
    fn change(&mut self, change: impl FnOnce(&mut RunRecord)) -> Result<(), Infallible> {
        self.0.as_mut().map(change);
        Ok(())
    }
}

impl Sink for Record {
    type Error = Infallible;

    fn begin(&mut self, header: &RunHeader) -> Result<(), Infallible> {
        self.0 = Some(RunRecord::new(header.clone(), Vec::new()));
        Ok(())
    }

    fn trial(&mut self, _: &RunId, trial: &Trial) -> Result<(), Infallible> {
        self.change(|record| {
            record.trials.retain(|earlier| earlier.index != trial.index);
            record.trials.push(trial.clone());
        })
    }

    fn skipped(&mut self, _: &RunId, skipped: &SkippedResult) -> Result<(), Infallible> {
        self.change(|record| record.skipped.push(skipped.clone()))
    }

    fn ended(&mut self, _: &RunId, end: &ResultEnd) -> Result<(), Infallible> {
        self.change(|record| record.ends.push(end.clone()))
    }

    fn machine_changed(&mut self, _: &RunId, change: &MachineChange) -> Result<(), Infallible> {
        self.change(|record| record.machine_changes.push(change.clone()))
    }

    fn complete(&mut self, _: &RunId) -> Result<(), Infallible> {
        Ok(())
    }
}
