//! The course of a run: its trials round by round, most of one trial, each kept as it ends. Must not know how one is made.

use std::{
    thread,
    time::{Duration, Instant},
};

use samples::{Arm, DiscardedAttempt, Disturber, Sink, SkippedCell, ValidityWarning};
use scenario::{Path, Plan, PlannedTrial};

use crate::{
    design::Design,
    error::RunError,
    event::{Event, Observer},
    run::{Request, Skips, keep},
    stop::Stop,
    trial::{TrialOrder, TrialOutcome, TrialRunner},
};

/// How long one looks whether others leave the CPUs alone.
const GLANCE: Duration = Duration::from_millis(300);
/// What a trial may send beyond its time, and an agent take to end once its member's lease is over.
const GRACE: Duration = Duration::from_secs(5);
/// The share of the time of a run that waiting for others and making disturbed trials again may add to it.
const ALLOWED: f64 = 1.0 / 3.0;
/// Disturbed trials that are named as they are made again; of more the number is told.
const NAMED: usize = 3;

/// How long a run waits for others, and makes disturbed trials again, at most.
#[must_use]
pub fn remake_allowance(plan: &Plan) -> Duration {
    let planned = plan.duration_estimate();
    Duration::from(plan.design.budget.map_or(planned, |budget| budget.min(planned))).mul_f64(ALLOWED)
}

/// What the trials of a run have in common, and where they go.
pub(crate) struct RunLoop<'a, S> {
    pub(crate) request: &'a Request<'a>,
    pub(crate) sink: &'a mut S,
    pub(crate) observer: &'a mut dyn Observer,
    pub(crate) skipped: Skips,
    /// That of each cell.
    pub(crate) paths: Vec<&'a Path>,
}

impl<S: Sink> RunLoop<'_, S> {
    /// Makes every trial that is not there yet; how many that were.
    pub(crate) fn make(&mut self, bench: &mut TrialRunner<'_>, stop: &Stop) -> Result<u32, RunError> {
        for skip in self.skipped.values().cloned().collect::<Vec<_>>() {
            self.keep_skip(&skip)?;
        }
        let request = self.request;
        let mut design = Design::new(request.plan, request.resume.iter().flat_map(|record| &record.trials));
        self.skipped.keys().for_each(|cell| design.skip(cell));
        self.skip_left_out(bench, &mut design);
        let (mut made, mut block) = (0, None);
        loop {
            let round = design.next_round();
            let Some(planned) = round.first() else { break };
            if block.replace(planned.block) != Some(planned.block) {
                self.decide(&mut design)?;
            }
            if stop.is_asked() {
                return Err(RunError::Interrupted);
            }
            made += self.round(bench, &mut design, &round, &[])?;
        }
        self.remake(bench, &mut design, stop)?;
        self.decide(&mut design)?;
        self.skip_out_of_time(&design)?;
        Ok(made)
    }

    /// Records cells left without a trial by the time budget.
    fn skip_out_of_time(&mut self, design: &Design<'_>) -> Result<(), RunError> {
        let Some(budget) = self.request.plan.design.budget else { return Ok(()) };
        for cell in design.out_of_time() {
            let because = format!("the time budget of {budget} was used up before its first trial");
            let skip = SkippedCell { cell: cell.to_owned(), because };
            self.keep_skip(&skip)?;
            self.skipped.insert(skip.cell.clone(), skip);
        }
        Ok(())
    }

    /// Makes trials that others disturbed once more, when they leave the CPUs to us, for as long as is allowed.
    fn remake(
        &mut self,
        bench: &mut TrialRunner<'_>,
        design: &mut Design<'_>,
        stop: &Stop,
    ) -> Result<(), RunError> {
        if self.request.keep_disturbed {
            return Ok(());
        }
        let until = Instant::now() + remake_allowance(self.request.plan);
        let mut made = 0;
        while let Some((planned, attempts)) = design.to_remake() {
            let estimate = Duration::from(self.request.plan.trial_estimate(planned.cell));
            let why_not = if !self.await_quiet(bench, until, stop)? {
                Some("others still use the CPUs")
            } else if Instant::now() + estimate > until {
                Some("the time for making trials again is over")
            } else {
                None
            };
            if let Some(why) = why_not {
                let text = format!("{why}: the other trials that were disturbed are kept as they are");
                self.observer.event(&Event::Notice(&text));
                break;
            }
            made += 1;
            if made <= NAMED
                && let Some(ValidityWarning::Disturbed { by, .. }) =
                    attempts.last().map(|attempt| &attempt.because)
            {
                let cell = &self.request.plan.cells[planned.cell].id;
                let rest = if made == NAMED { "; further ones are counted, not shown" } else { "" };
                let text = format!("{cell} was disturbed by {}; once more{rest}", Disturber::all(by));
                self.observer.event(&Event::Notice(&text));
            }
            self.round(bench, design, &[planned], &attempts)?;
        }
        if made > NAMED {
            self.observer.event(&Event::Notice(&format!("{made} disturbed trials were made again")));
        }
        Ok(())
    }

    /// Whether others left the CPUs alone before that time; where nobody can tell, they do.
    fn await_quiet(
        &mut self,
        bench: &mut TrialRunner<'_>,
        until: Instant,
        stop: &Stop,
    ) -> Result<bool, RunError> {
        let mut told = false;
        while Instant::now() < until {
            if stop.is_asked() {
                return Err(RunError::Interrupted);
            }
            let Some(by) = bench.disturbers(GLANCE)? else { return Ok(true) };
            if !told {
                let text = format!("waiting for {} to leave the CPUs", Disturber::all(&by));
                self.observer.event(&Event::Notice(&text));
                told = true;
            }
        }
        Ok(false)
    }

    /// Makes these trials at the same time, after these attempts; how many came of it.
    fn round(
        &mut self,
        bench: &mut TrialRunner<'_>,
        design: &mut Design<'_>,
        round: &[&PlannedTrial],
        attempts: &[DiscardedAttempt],
    ) -> Result<u32, RunError> {
        let (scenario, mut orders) = (self.request.scenario, Vec::new());
        for planned in round {
            let cell = &self.request.plan.cells[planned.cell];
            let path = self.paths[planned.cell];
            if planned.arm == Arm::Probed && !bench.sees(cell, path) {
                design.leave_out(planned);
                continue;
            }
            self.observer.event(&Event::Trial { planned, cell });
            orders.push(TrialOrder { planned, cell, path, mtu: path.mtu(&scenario.lab, &cell.devices) });
        }
        if orders.is_empty() {
            return Ok(0);
        }
        let (ground, mut made) = (bench.ground, 0);
        let came = match bench.make(&orders, self.observer) {
            Ok(came) => came,
            Err(error) => {
                let explain = |error, order: &TrialOrder<'_>| ground.explain(bench.agents, order.path, error);
                let error = orders.iter().fold(error, explain);
                let paths: Vec<&Path> = orders.iter().map(|order| order.path).collect();
                let lost = bench.agents.left_out.hosts();
                bench.leave_out(error, &paths, self.observer)?;
                self.skip_left_out(bench, design);
                thread::sleep(scenario.schedule.pause.into());
                if bench.agents.left_out.hosts() > lost {
                    let flows = orders.iter().filter_map(|order| order.cell.load.kind().flows_for()).max();
                    self.outwait(flows.map(Duration::from).unwrap_or_default(), bench)?;
                }
                return Ok(0);
            }
        };
        for outcome in came {
            match outcome {
                TrialOutcome::Trial(mut trial) => {
                    trial.discarded.splice(..0, attempts.iter().cloned());
                    self.sink.trial(&self.request.id, &trial).map_err(keep)?;
                    self.observer.event(&Event::Kept(&trial));
                    design.saw(&trial);
                    made += 1;
                }
                TrialOutcome::Skipped(skip) => {
                    self.keep_skip(&skip)?;
                    design.skip(&skip.cell);
                    self.skipped.insert(skip.cell.clone(), skip);
                }
            }
        }
        thread::sleep(scenario.schedule.pause.into());
        Ok(made)
    }

    /// A host that is lost may send to the others until its own clock ends its agent, or its trial is over.
    fn outwait(&mut self, flows: Duration, bench: &TrialRunner<'_>) -> Result<(), RunError> {
        let wait = fleet::LEASE.max(flows) + GRACE;
        let text = format!("waiting {} s: until then a lost host may still send", wait.as_secs());
        self.observer.event(&Event::Notice(&text));
        let until = Instant::now() + wait;
        while Instant::now() < until {
            if bench.agents.is_stopped() {
                return Err(RunError::Interrupted);
            }
            thread::sleep(GLANCE);
        }
        Ok(())
    }

    /// Nothing more is measured on what the run goes on without.
    fn skip_left_out(&self, bench: &TrialRunner<'_>, design: &mut Design<'_>) {
        let cells = self.request.plan.cells.iter().zip(&self.paths);
        for (cell, _) in cells.filter(|(_, path)| bench.is_left_out(path)) {
            design.skip(cell.id.as_str());
        }
    }

    /// Keeps and tells what the trials so far have decided.
    fn decide(&mut self, design: &mut Design<'_>) -> Result<(), RunError> {
        for end in design.ends() {
            self.sink.ended(&self.request.id, &end).map_err(keep)?;
        }
        if let Some(text) = design.other_objective() {
            self.observer.event(&Event::Notice(text));
        }
        self.observer.event(&Event::Decided(&design.decided()));
        Ok(())
    }

    fn keep_skip(&mut self, skip: &SkippedCell) -> Result<(), RunError> {
        self.sink.skipped(&self.request.id, skip).map_err(keep)?;
        self.observer.event(&Event::Skipped(skip));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use samples::{CellEnd, MachineChange, RunHeader, RunId, Trial};
    use scenario::{PlanOptions, Scenario, builtin};
    use units::Nanos;

    use super::*;

    #[derive(Default)]
    struct StoredSkips(Vec<SkippedCell>);

    impl Sink for StoredSkips {
        type Error = Infallible;

        fn begin(&mut self, _: &RunHeader) -> Result<(), Infallible> {
            Ok(())
        }
        fn trial(&mut self, _: &RunId, _: &Trial) -> Result<(), Infallible> {
            Ok(())
        }
        fn skipped(&mut self, _: &RunId, skipped: &SkippedCell) -> Result<(), Infallible> {
            self.0.push(skipped.clone());
            Ok(())
        }
        fn ended(&mut self, _: &RunId, _: &CellEnd) -> Result<(), Infallible> {
            Ok(())
        }
        fn machine_changed(&mut self, _: &RunId, _: &MachineChange) -> Result<(), Infallible> {
            Ok(())
        }
        fn complete(&mut self, _: &RunId) -> Result<(), Infallible> {
            Ok(())
        }
    }

    #[test]
    fn stores_why_cells_have_no_trial_when_the_budget_is_used_up() {
        let text = builtin::find("quick").expect("it is built in").text;
        let scenario = Scenario::parse("quick", text).expect("it is right");
        let options = PlanOptions { budget: Some(Nanos(1)), ..PlanOptions::default() };
        let plan = scenario::Plan::expand(&scenario, 1, &options);
        let request = Request {
            scenario: &scenario,
            text,
            plan: &plan,
            id: RunId("run".into()),
            tries: None,
            resume: None,
            agent: "/nonexistent".into(),
            firecracker: None,
            tool: "test",
            keep_disturbed: true,
            hosts: crate::ExistingHostUse::default(),
            fleet: None,
            inside: None,
        };
        let (mut sink, mut observer) = (StoredSkips::default(), |_: &Event<'_>| ());
        let mut course = RunLoop {
            request: &request,
            sink: &mut sink,
            observer: &mut observer,
            skipped: Skips::new(),
            paths: Vec::new(),
        };
        let mut design = Design::new(&plan, []);
        assert!(design.next_round().is_empty(), "a trial takes longer than the budget");
        course.skip_out_of_time(&design).expect("the sink takes everything");
        assert_eq!(course.skipped.len(), plan.cells.len());
        assert_eq!(sink.0.len(), plan.cells.len());
        assert!(sink.0.iter().all(|skip| skip.because.contains("time budget of 1")), "{:?}", sink.0[0]);
    }
}
