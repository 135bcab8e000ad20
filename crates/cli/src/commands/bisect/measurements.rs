//! Measures a scenario under a kernel, and compares the results.

use ::scenario::Plan;
use analysis::MAX_LOSS_OF_COUNTS;
use anyhow::{Result, anyhow, bail};
use findings::{ResultComparison, result_label};
use lab::{ExistingHostUse, Inside, Request, RunError, Stop};
use machine::ConfiguredKernel;
use samples::{RunId, RunRecord};
use units::Share;

use super::{BisectArgs, candidates::Candidate, record::Record};
use crate::{
    commands::run::{RunArgs, planned},
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
    good: Option<RunRecord>,
}

impl<'a> Measurements<'a> {
    pub(super) fn prepare(args: &'a BisectArgs, shared: &GlobalFlags, stop: &'a Stop) -> Result<Self> {
        let run = RunArgs::of_bisect(&args.scenario, args.time, &args.paths, &args.workloads);
        let (source, plan) = planned(&run, shared)?;
        Ok(Self { args, stop, source, plan, good: None })
    }

    fn measure(&self, kernel: &Candidate, parameters: &Candidate) -> Result<RunRecord> {
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
        let run = lab::run_inside(&request, &inside, &mut record, &mut |_: &lab::Event<'_>| (), self.stop);
        run.map_err(|error| {
            let failed = format!("cannot measure under the kernel {}", kernel.name);
            match error {
                RunError::Lacks { .. } | RunError::Machine(_) => anyhow::Error::new(error).context(failed),
                // The hints for these errors are about stored trials.
                error => anyhow!("{failed}: {error}"),
            }
        })?;
        record.0.ok_or_else(|| anyhow!("nothing was measured under the kernel {}", kernel.name))
    }

    /// Measures both ends, and returns the result with the largest change.
    pub(super) fn ends(&mut self, first: &Candidate, last: &Candidate) -> Result<ResultComparison> {
        self.good = Some(self.measure(first, first)?);
        let results = self.compared(&self.measure(last, last)?);
        let (good, bad) = (&first.name, &last.name);
        let counts = self.args.time.is_none();
        let largest = match analysis::most_different(&results, counts) {
            Ok(result) => return Ok(result.clone()),
            Err(None) => bail!("no result could be measured under both {good} and {bad}"),
            Err(Some(largest)) => largest,
        };
        let (change, label) = ((largest.b.estimate / largest.a.estimate - 1.0) * 100.0, label(largest));
        let difference = if counts {
            format!("by more than {}", Share(MAX_LOSS_OF_COUNTS))
        } else {
            "significantly".to_owned()
        };
        bail!("{good} and {bad} do not differ {difference}: the largest change is {change:+.2} % ({label})")
    }

    /// Measures a result under the kernel of one candidate with the parameters of another.
    pub(super) fn value(
        &self,
        of: &ResultComparison,
        kernel: &Candidate,
        parameters: &Candidate,
    ) -> Result<f64> {
        let results = self.compared(&self.measure(kernel, parameters)?);
        let missing = || anyhow!("{} could not be measured under the kernel {}", label(of), kernel.name);
        let found = results.iter().find(|result| result.result == of.result);
        found.map(|result| result.b.estimate).ok_or_else(missing)
    }

    /// Compares the results of the selected paths with those of the good end.
    fn compared(&self, record: &RunRecord) -> Vec<ResultComparison> {
        let paths = &self.args.paths;
        let good = self.good.as_ref().expect("the good end is measured first");
        let mut results = analysis::comparison(good, record, &[]).results;
        results.retain(|result| {
            let is_selected = paths.is_empty() || paths.contains(&result.path);
            is_selected && result.a.estimate > 0.0 && result.b.estimate > 0.0
        });
        results
    }
}

/// Names a result by path, levels and workload.
pub(super) fn label(result: &ResultComparison) -> String {
    result_label(&result.path, &result.levels, Some(&result.workload))
}
