//! Keeps a run's trials in memory, because `plumb run --resume` would continue a stored one under the default kernel.

use std::convert::Infallible;

use samples::{MachineChange, ResultEnd, RunHeader, RunId, RunRecord, Sink, SkippedResult, Trial};

pub(super) struct Record(pub(super) Option<RunRecord>);

impl Sink for Record {
    type Error = Infallible;

    fn begin(&mut self, header: &RunHeader) -> Result<(), Infallible> {
        self.0 = Some(RunRecord::new(header.clone(), Vec::new()));
        Ok(())
    }

    fn trial(&mut self, _: &RunId, trial: &Trial) -> Result<(), Infallible> {
        if let Some(record) = &mut self.0 {
            record.trials.retain(|earlier| earlier.index != trial.index);
            record.trials.push(trial.clone());
        }
        Ok(())
    }

    fn skipped(&mut self, _: &RunId, _: &SkippedResult) -> Result<(), Infallible> {
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
