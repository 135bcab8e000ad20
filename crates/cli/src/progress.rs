//! Shows a run's progress as plain lines, e.g. in logs.

use std::time::Duration;

use lab::{DesignDecision, Event};

use samples::{Trial, ValidityWarning};
use units::Nanos;

use watch::mark;

use crate::output;

const NAMED: usize = 3;

pub(crate) struct Progress {
    planned: usize,
    choosing: Option<Choosing>,
}

#[derive(Debug, Clone, Copy)]
struct Choosing {
    finished: usize,
    /// Maximum number of remaining trials, according to the last decision.
    left: usize,
}

impl Progress {
    pub(crate) fn of_all(planned: usize, there: usize, estimate: Nanos) -> Self {
        let trials = planned.saturating_sub(there);
        let left = Nanos(estimate.0 / planned.max(1) as u64 * trials as u64);
        let resumed = if there > 0 { format!("{there} of {planned} trials done, ") } else { String::new() };
        output::aside(format_args!("{resumed}{trials} trials to run, about {:.0?}", Duration::from(left)));
        Self { planned, choosing: None }
    }

    pub(crate) fn of_chosen(planned: usize, there: usize, estimate: Nanos) -> Self {
        let resumed = if there > 0 { format!("{there} trials done, ") } else { String::new() };
        let most = Duration::from(estimate);
        output::aside(format_args!("{resumed}up to {planned} trials in total, {most:.0?}"));
        let choosing = Some(Choosing { finished: there, left: planned.saturating_sub(there) });
        Self { planned, choosing }
    }

    pub(crate) fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Step(_)
            | Event::Boots { .. }
            | Event::Booted { .. }
            | Event::Trial { .. }
            | Event::Rate { .. } => {}
            Event::Begun(header) => {
                self.planned = header.planned as usize;
                output::aside(format_args!(
                    "run {} (seed {}, {} trials)",
                    header.id, header.seed, header.planned
                ));
            }
            Event::Decided(decided) => self.decided(decided),
            Event::Kept(trial) => self.trial_stored(trial),
            Event::Skipped(skip) => {
                output::aside(format_args!("skipped {}: {}", skip.result, skip.reason));
            }
            Event::Notice(text) => self.notice(text),
        }
    }

    pub(crate) fn notice(&self, text: &str) {
        output::aside(format_args!("note: {text}"));
    }

    fn trial_stored(&mut self, trial: &Trial) {
        // Count a repeated trial only once.
        let again =
            trial.discarded.iter().any(|attempt| matches!(attempt.reason, ValidityWarning::Disturbed { .. }));
        if let Some(choosing) = self.choosing.as_mut().filter(|_| !again) {
            choosing.finished += 1;
            choosing.left = choosing.left.saturating_sub(1);
        }
        let place = match self.choosing {
            Some(choosing) => choosing.finished.to_string(),
            None => format!("{}/{}", trial.index + 1, self.planned),
        };
        let (result, mark) = (&trial.result, mark(trial.arm));
        output::aside(format_args!("[{place}] {result}{mark}  {}", trial.in_a_word()));
    }

    fn decided(&mut self, decided: &DesignDecision) {
        let Some(choosing) = &mut self.choosing else { return };
        choosing.left = decided.trials_left as usize;
        let (finished, left) = (choosing.finished, Duration::from(decided.most_left));
        let (open, results) = (&decided.open, decided.results as usize);
        let block = decided.block.map(|block| format!("block {}: ", block + 1)).unwrap_or_default();
        let text = if choosing.left == 0 {
            match (decided.out_of_time, finished < self.planned) {
                (true, _) => format!("time budget used up after {finished} of up to {} trials", self.planned),
                (false, true) => format!("stopped early after {finished} of up to {} trials", self.planned),
                (false, false) => format!("all {finished} trials done"),
            }
        } else if open.len() == results {
            format!("{block}measuring all {results} results")
        } else {
            let named = open.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
            let more = open.len().saturating_sub(NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!(
                "{block}{} of {results} results can still change the outcome: {named}{more} (up to {left:.0?})",
                open.len()
            )
        };
        output::aside(text);
    }
}
