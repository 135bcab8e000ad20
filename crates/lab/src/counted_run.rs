//! Runs each block of trials in a new lab. The kernel gives hash tables random seeds, e.g. the forwarding table of a
//! bridge, and a collision changes the counts of all trials in a lab by up to 1 %.

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
    let mut blocks: Vec<u32> = whole.trials.iter().map(|trial| trial.block).collect();
    blocks.dedup();
    let mut record = request.resume.cloned();
    let mut outcome = Outcome { id: request.id.clone(), completed: 0, skipped: Vec::new() };
    for (number, block) in blocks.iter().enumerate() {
        let trials = whole.trials.iter().filter(|trial| trial.block <= *block).cloned().collect();
        let plan = Plan { trials, ..whole.clone() };
        let part = Request { plan: &plan, resume: record.as_ref(), ..request.clone() };
        let mut kept =
            Part { sink, whole, last: number + 1 == blocks.len(), header: None, trials: Vec::new() };
        let mut forward = |event: &Event<'_>| {
            if number == 0 || !matches!(event, Event::Begun(_) | Event::Step(_)) {
                observer.event(event);
            }
        };
        let Outcome { completed, skipped, .. } = run(&part, &mut kept, &mut forward, stop)?;
        let Part { header, trials, .. } = kept;
        outcome = Outcome { completed: outcome.completed + completed, skipped, ..outcome };
        match (&mut record, header) {
            (Some(record), _) => record.trials.extend(trials),
            (None, header) => record = header.map(|header| RunRecord::new(header, trials)),
        }
    }
    Ok(outcome)
}

/// The records of one block.
struct Part<'a, S> {
    sink: &'a mut S,
    whole: &'a Plan,
    last: bool,
    header: Option<RunHeader>,
    trials: Vec<Trial>,
}

impl<S: Sink> Sink for Part<'_, S> {
    type Error = S::Error;

    fn begin(&mut self, header: &RunHeader) -> Result<(), S::Error> {
        let blocks = self.whole.trials.iter().map(|trial| trial.block + 1).max().unwrap_or(0);
        let header = RunHeader { blocks, planned: self.whole.trials.len() as u32, ..header.clone() };
        self.sink.begin(&header)?;
        self.header = Some(header);
        Ok(())
    }

    fn trial(&mut self, run: &RunId, trial: &Trial) -> Result<(), S::Error> {
        self.trials.push(trial.clone());
        self.sink.trial(run, trial)
    }

    fn skipped(&mut self, run: &RunId, skipped: &SkippedResult) -> Result<(), S::Error> {
        self.sink.skipped(run, skipped)
    }

    fn ended(&mut self, run: &RunId, end: &ResultEnd) -> Result<(), S::Error> {
        self.sink.ended(run, end)
    }

    fn machine_changed(&mut self, run: &RunId, change: &MachineChange) -> Result<(), S::Error> {
        self.sink.machine_changed(run, change)
    }

    fn complete(&mut self, run: &RunId) -> Result<(), S::Error> {
        if self.last { self.sink.complete(run) } else { Ok(()) }
    }
}
