//! Runs the trials in rounds of one or more trials, and stores each trial when it ends.

use std::{
    thread,
    time::{Duration, Instant},
};

use samples::{Arm, DiscardedAttempt, Disturber, EndReason, ResultEnd, Sink, SkippedResult, ValidityWarning};
use scenario::{Path, Plan, PlannedTrial};

use crate::{
    design::Design,
    error::RunError,
    event::{Event, Observer},
    request::{Request, Skips},
    stop::Stop,
    trial::TrialOutcome,
    trial_runner::{TrialOrder, TrialRunner},
};

const IDLE_CHECK: Duration = Duration::from_millis(300);
/// Extra time for a trial's traffic to end, or for an agent to end after its member's lease.
const GRACE: Duration = Duration::from_secs(5);
/// The maximum time for waiting and repeats, as a fraction of the run's time.
const ALLOWED: f64 = 1.0 / 3.0;
const MAX_SHOWN: usize = 3;

#[must_use]
pub fn remake_allowance(plan: &Plan) -> Duration {
    let planned = plan.duration_estimate();
    Duration::from(plan.design.budget.map_or(planned, |budget| budget.min(planned))).mul_f64(ALLOWED)
}

pub(crate) struct RunLoop<'a, S> {
    pub(crate) request: &'a Request<'a>,
    pub(crate) sink: &'a mut S,
    pub(crate) observer: &'a mut dyn Observer,
    pub(crate) skipped: Skips,
    pub(crate) paths: Vec<&'a Path>,
}

impl<'a, S: Sink> RunLoop<'a, S> {
    pub(crate) fn make(&mut self, runner: &mut TrialRunner<'_>, stop: &Stop) -> Result<u32, RunError> {
        for skip in self.skipped.values().cloned().collect::<Vec<_>>() {
            self.keep_skip(&skip)?;
        }
        let request = self.request;
        let mut design = Design::new(request.plan, request.resume.iter().flat_map(|record| &record.trials));
        self.skipped.keys().for_each(|result| design.skip(result));
        self.skip_left_out(runner, &mut design);
        let (mut completed, mut block, mut allowance) = (0, None, remake_allowance(request.plan));
        loop {
            let round = design.next_round();
            let Some(planned) = round.first() else {
                self.remake(runner, &mut design, &mut allowance, stop)?;
                if design.look_again() {
                    continue;
                }
                break;
            };
            if block.replace(planned.block) != Some(planned.block) {
                self.decide(&mut design)?;
            }
            if stop.is_asked() {
                return Err(RunError::Interrupted);
            }
            completed += self.round(runner, &mut design, &round, &[])?;
        }
        self.decide(&mut design)?;
        self.skip_out_of_time(&design)?;
        Ok(completed)
    }

    fn skip_out_of_time(&mut self, design: &Design<'_>) -> Result<(), RunError> {
        let Some(budget) = self.request.plan.design.budget else { return Ok(()) };
        for result in design.out_of_time() {
            let reason = format!("the time budget of {budget} was used up before its first trial");
            let skip = SkippedResult { result: result.to_owned(), reason };
            self.keep_skip(&skip)?;
            self.skipped.insert(skip.result.clone(), skip);
        }
        Ok(())
    }

    /// Repeats disturbed trials when the CPUs are idle. The time taken is subtracted from `allowance`.
    fn remake(
        &mut self,
        runner: &mut TrialRunner<'_>,
        design: &mut Design<'_>,
        allowance: &mut Duration,
        stop: &Stop,
    ) -> Result<(), RunError> {
        if self.request.keep_disturbed || allowance.is_zero() {
            return Ok(());
        }
        let begun = Instant::now();
        let until = begun + *allowance;
        let mut completed = 0;
        while let Some((planned, attempts)) = design.to_remake() {
            let estimate = Duration::from(self.request.plan.trial_estimate(planned.result));
            let why_not = if !self.await_quiet(runner, until, stop)? {
                Some("other processes still use the CPUs")
            } else if Instant::now() + estimate > until {
                Some("the time for repeats is used up")
            } else {
                None
            };
            if let Some(reason) = why_not {
                self.notice(&format!("{reason}; storing the remaining disturbed trials as they are"));
                *allowance = Duration::ZERO;
                break;
            }
            completed += 1;
            if completed <= MAX_SHOWN {
                let rest = if completed == MAX_SHOWN { " (further repeats not shown)" } else { "" };
                self.show_repeat(planned, &attempts, rest);
            }
            self.round(runner, design, &[planned], &attempts)?;
        }
        if completed > MAX_SHOWN {
            self.notice(&format!("repeated {completed} disturbed trials"));
        }
        *allowance = allowance.saturating_sub(begun.elapsed());
        Ok(())
    }

    fn show_repeat(&mut self, planned: &PlannedTrial, attempts: &[DiscardedAttempt], rest: &str) {
        let last = attempts.last().map(|attempt| &attempt.reason);
        if let Some(ValidityWarning::Disturbed { processes, .. }) = last {
            let result = &self.request.plan.results[planned.result].id;
            self.notice(&format!("repeating {result}: disturbed by {}{rest}", Disturber::all(processes)));
        }
    }

    /// Waits until other processes leave the CPUs idle, but not beyond `until`. Returns whether the CPUs are
    /// idle, or true if there is no CPU data.
    fn await_quiet(
        &mut self,
        runner: &mut TrialRunner<'_>,
        until: Instant,
        stop: &Stop,
    ) -> Result<bool, RunError> {
        let mut was_shown = false;
        while Instant::now() < until {
            if stop.is_asked() {
                return Err(RunError::Interrupted);
            }
            let Some(by) = runner.disturbers(IDLE_CHECK)? else { return Ok(true) };
            if !was_shown {
                self.notice(&format!("waiting for {} to stop using the CPUs", Disturber::all(&by)));
                was_shown = true;
            }
        }
        Ok(false)
    }

    fn round(
        &mut self,
        runner: &mut TrialRunner<'_>,
        design: &mut Design<'_>,
        round: &[&PlannedTrial],
        attempts: &[DiscardedAttempt],
    ) -> Result<u32, RunError> {
        let orders = self.orders(runner, design, round);
        if orders.is_empty() {
            return Ok(0);
        }
        let outcomes = match runner.make(&orders, self.observer) {
            Ok(outcomes) => outcomes,
            Err(error) => return self.leave_out(runner, design, &orders, error).map(|()| 0),
        };
        let mut completed = 0;
        for outcome in outcomes {
            match outcome {
                TrialOutcome::Trial(mut trial) => {
                    trial.discarded.splice(..0, attempts.iter().cloned());
                    self.sink.trial(&self.request.id, &trial).map_err(RunError::keep)?;
                    self.observer.event(&Event::Kept(&trial));
                    design.saw(&trial);
                    completed += 1;
                }
                TrialOutcome::Skipped(skip) => self.skip(design, skip)?,
                TrialOutcome::Lost(skip, black_hole, counters) => {
                    let (result, reason) = (skip.result.clone(), EndReason::Unusable { trials: 0 });
                    let end = ResultEnd { result, reason, trials: 0, black_hole, counters };
                    self.sink.ended(&self.request.id, &end).map_err(RunError::keep)?;
                    self.skip(design, skip)?;
                }
            }
        }
        self.pause();
        Ok(completed)
    }

    fn skip(&mut self, design: &mut Design<'_>, skip: SkippedResult) -> Result<(), RunError> {
        self.keep_skip(&skip)?;
        design.skip(&skip.result);
        self.skipped.insert(skip.result.clone(), skip);
        Ok(())
    }

    fn orders<'o>(
        &mut self,
        runner: &TrialRunner<'_>,
        design: &mut Design<'_>,
        round: &[&'o PlannedTrial],
    ) -> Vec<TrialOrder<'o>>
    where
        'a: 'o,
    {
        let (request, mut orders) = (self.request, Vec::new());
        for &planned in round {
            let result = &request.plan.results[planned.result];
            let path = self.paths[planned.result];
            if planned.arm == Arm::Probed && !runner.sees(result, path) {
                design.leave_out(planned);
                continue;
            }
            self.observer.event(&Event::Trial { planned, result });
            let mtu = path.mtu(&request.scenario.lab, &result.devices);
            orders.push(TrialOrder { planned, result, path, mtu });
        }
        orders
    }

    fn leave_out(
        &mut self,
        runner: &mut TrialRunner<'_>,
        design: &mut Design<'_>,
        orders: &[TrialOrder<'_>],
        error: RunError,
    ) -> Result<(), RunError> {
        let lab_handle = runner.lab_handle;
        let explain = |error, order: &TrialOrder<'_>| lab_handle.explain(runner.agents, order.path, error);
        let error = orders.iter().fold(error, explain);
        let paths: Vec<&Path> = orders.iter().map(|order| order.path).collect();
        let lost = runner.agents.left_out.hosts();
        runner.leave_out(error, &paths, self.observer)?;
        self.skip_left_out(runner, design);
        self.pause();
        if runner.agents.left_out.hosts() > lost {
            let flows = orders.iter().filter_map(|order| order.result.load.kind().flows_for()).max();
            self.wait_for_lost_host(flows.map(Duration::from).unwrap_or_default(), runner)?;
        }
        Ok(())
    }

    fn pause(&self) {
        thread::sleep(self.request.scenario.schedule.pause.into());
    }

    fn notice(&mut self, text: &str) {
        self.observer.event(&Event::Notice(text));
    }

    /// Waits until a lost host can no longer send, because its agent has ended with its lease or the trial.
    fn wait_for_lost_host(&mut self, flows: Duration, runner: &TrialRunner<'_>) -> Result<(), RunError> {
        let wait = fleet::LEASE.max(flows) + GRACE;
        self.notice(&format!("waiting {} s until a lost host has stopped sending", wait.as_secs()));
        let until = Instant::now() + wait;
        while Instant::now() < until {
            if runner.agents.is_stopped() {
                return Err(RunError::Interrupted);
            }
            thread::sleep(IDLE_CHECK);
        }
        Ok(())
    }

    fn skip_left_out(&self, runner: &TrialRunner<'_>, design: &mut Design<'_>) {
        let results = self.request.plan.results.iter().zip(&self.paths);
        for (result, _) in results.filter(|(_, path)| runner.is_left_out(path)) {
            design.skip(result.id.as_str());
        }
    }

    fn decide(&mut self, design: &mut Design<'_>) -> Result<(), RunError> {
        for end in design.ends() {
            self.sink.ended(&self.request.id, &end).map_err(RunError::keep)?;
        }
        if let Some(text) = design.other_objective() {
            self.observer.event(&Event::Notice(text));
        }
        self.observer.event(&Event::Decided(&design.decided()));
        Ok(())
    }

    fn keep_skip(&mut self, skip: &SkippedResult) -> Result<(), RunError> {
        self.sink.skipped(&self.request.id, skip).map_err(RunError::keep)?;
        self.observer.event(&Event::Skipped(skip));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use samples::{MachineChange, RunHeader, RunId, Trial};
    use scenario::{PlanOptions, Scenario, builtin};
    use units::Nanos;

    use super::*;

    #[derive(Default)]
    struct StoredSkips(Vec<SkippedResult>);

    impl Sink for StoredSkips {
        type Error = Infallible;

        fn begin(&mut self, _: &RunHeader) -> Result<(), Infallible> {
            Ok(())
        }
        fn trial(&mut self, _: &RunId, _: &Trial) -> Result<(), Infallible> {
            Ok(())
        }
        fn skipped(&mut self, _: &RunId, skipped: &SkippedResult) -> Result<(), Infallible> {
            self.0.push(skipped.clone());
            Ok(())
        }
        fn ended(&mut self, _: &RunId, _: &ResultEnd) -> Result<(), Infallible> {
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
    fn stores_why_results_have_no_trial_when_the_budget_is_used_up() {
        let text = builtin::find("quick").expect("it is built in").text;
        let scenario = Scenario::parse("quick", text).expect("it is right");
        let options = PlanOptions { budget: Some(Nanos(1)), ..PlanOptions::default() };
        let plan = scenario::Plan::expand(&scenario, 1, &options);
        let request = Request {
            scenario: &scenario,
            text,
            plan: &plan,
            id: RunId("run".into()),
            remedy_trials: None,
            resume: None,
            agent: "/nonexistent".into(),
            firecracker: None,
            tool: "test",
            keep_disturbed: true,
            hosts: crate::ExistingHostUse::default(),
            fleet: None,
            attachments: std::sync::Arc::default(),
            inside: None,
        };
        let (mut sink, mut observer) = (StoredSkips::default(), |_: &Event<'_>| ());
        let mut run_loop = RunLoop {
            request: &request,
            sink: &mut sink,
            observer: &mut observer,
            skipped: Skips::new(),
            paths: Vec::new(),
        };
        let mut design = Design::new(&plan, []);
        assert!(design.next_round().is_empty(), "a trial takes longer than the budget");
        run_loop.skip_out_of_time(&design).expect("the sink takes everything");
        assert_eq!(run_loop.skipped.len(), plan.results.len());
        assert_eq!(sink.0.len(), plan.results.len());
        assert!(sink.0.iter().all(|skip| skip.reason.contains("time budget of 1")), "{:?}", sink.0[0]);
    }
}
