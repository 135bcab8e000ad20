//! Keeps a run in memory, because `plumb run --resume` would continue a stored one under the default kernel.

use std::convert::Infallible;

use samples::{MachineChange, ResultEnd, RunHeader, RunId, RunRecord, Sink, SkippedResult, Trial};

pub(super) struct Record(pub(super) Option<RunRecord>);

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
