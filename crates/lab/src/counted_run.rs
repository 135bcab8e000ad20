//! Runs each block of trials in a new lab. The kernel gives hash tables random seeds, e.g. the forwarding table of a
//! bridge, and a collision adds about 1 % to the counts of all trials in a lab.

use std::collections::BTreeSet;

use samples::{MachineChange, ResultEnd, RunHeader, RunId, RunRecord, Sink, SkippedResult, Trial};
use scenario::Plan;

use crate::{
    error::RunError,
    event::{Event, Observer},
    request::Request,
    run::{Outcome, run},
    stop::Stop,
};

pub(crate) fn counted_run<S: Sink>(
    request: &Request<'_>,
    sink: &mut S,
    observer: &mut dyn Observer,
    stop: &Stop,
) -> Result<Outcome, RunError> {
    let whole = request.plan;
    let last = whole.trials.iter().map(|trial| trial.block).max().unwrap_or(0);
    let mut kept =
        Kept { sink, whole, record: request.resume.cloned(), skipped: BTreeSet::new(), is_last: false };
    let mut outcome = Outcome { id: request.id.clone(), completed: 0, skipped: Vec::new() };
    for block in 0..=last {
        kept.is_last = block == last;
        let mut plan = whole.clone();
        plan.trials.retain(|trial| trial.block <= block);
        let record = kept.record.clone();
        if !kept.is_last && record.as_ref().is_some_and(|record| record.trials.len() >= plan.trials.len()) {
            continue;
        }
        let part = Request { plan: &plan, resume: record.as_ref(), ..request.clone() };
        let mut forward = |event: &Event<'_>| {
            if outcome.completed == 0 || !matches!(event, Event::Begun(_)) {
                observer.event(event);
            }
        };
        let of_block = run(&part, &mut kept, &mut forward, stop)?;
        outcome = Outcome { completed: outcome.completed + of_block.completed, ..of_block };
    }
    Ok(outcome)
}

/// Keeps the records of earlier blocks, with which the next one resumes the run.
struct Kept<'a, S> {
    sink: &'a mut S,
    whole: &'a Plan,
    record: Option<RunRecord>,
    skipped: BTreeSet<String>,
    is_last: bool,
}

impl<S: Sink> Sink for Kept<'_, S> {
    type Error = S::Error;

    fn begin(&mut self, header: &RunHeader) -> Result<(), S::Error> {
        let blocks = self.whole.trials.iter().map(|trial| trial.block + 1).max().unwrap_or(0);
        let header = RunHeader { blocks, planned: self.whole.trials.len() as u32, ..header.clone() };
        self.sink.begin(&header)?;
        self.record = Some(RunRecord::new(header, Vec::new()));
        Ok(())
    }

    fn trial(&mut self, run: &RunId, trial: &Trial) -> Result<(), S::Error> {
        if let Some(record) = &mut self.record {
            record.trials.push(trial.clone());
        }
        self.sink.trial(run, trial)
    }

    fn skipped(&mut self, run: &RunId, skipped: &SkippedResult) -> Result<(), S::Error> {
        let is_new = self.skipped.insert(skipped.result.clone());
        if is_new { self.sink.skipped(run, skipped) } else { Ok(()) }
    }

    fn ended(&mut self, run: &RunId, end: &ResultEnd) -> Result<(), S::Error> {
        self.sink.ended(run, end)
    }

    fn machine_changed(&mut self, run: &RunId, change: &MachineChange) -> Result<(), S::Error> {
        if let Some(record) = &mut self.record {
            record.machine_changes.push(change.clone());
        }
        self.sink.machine_changed(run, change)
    }

    fn complete(&mut self, run: &RunId) -> Result<(), S::Error> {
        if self.is_last { self.sink.complete(run) } else { Ok(()) }
    }
}
