//! How a run shows that it goes on where nobody looks at a terminal: plain lines.

use std::time::Duration;

use lab::{DesignDecision, Event};

use samples::{Trial, ValidityWarning};
use units::Nanos;

use crate::{live_view::mark, output};

/// Cells that are named where several are told of.
const NAMED: usize = 3;

/// The progress of one run. Writes to standard error only.
pub(crate) struct Progress {
    planned: usize,
    /// Where trials are chosen as the run goes on.
    choosing: Option<Choosing>,
}

/// How far a run is whose trials are chosen as it goes on.
#[derive(Debug, Clone, Copy)]
struct Choosing {
    /// Trials that were made, those before a resume included.
    made: usize,
    /// The most that are left, as of the last decision less those made since.
    left: usize,
}

impl Progress {
    /// For a run whose every trial is planned.
    pub(crate) fn of_all(planned: usize, there: usize, estimate: Nanos) -> Self {
        let trials = planned.saturating_sub(there);
        let left = Nanos(estimate.0 / planned.max(1) as u64 * trials as u64);
        let resumed =
            if there > 0 { format!("{there} of {planned} trials are there, ") } else { String::new() };
        output::aside(format_args!("{resumed}{trials} trials to make, about {:.0?}", Duration::from(left)));
        Self { planned, choosing: None }
    }

    /// For a run whose trials are chosen as it goes on, at most `planned` and for `estimate`.
    pub(crate) fn of_chosen(planned: usize, there: usize, estimate: Nanos) -> Self {
        let resumed = if there > 0 { format!("{there} trials are there, ") } else { String::new() };
        let most = Duration::from(estimate);
        output::aside(format_args!("{resumed}at most {planned} trials in all, {most:.0?}"));
        let choosing = Some(Choosing { made: there, left: planned.saturating_sub(there) });
        Self { planned, choosing }
    }

    /// Shows an event.
    pub(crate) fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Step(_)
            | Event::Boots { .. }
            | Event::Booted { .. }
            | Event::Trial { .. }
            | Event::Rate { .. } => {}
            Event::Begun(header) => {
                // Fewer than were planned where no probe can run here.
                self.planned = header.planned as usize;
                output::aside(format_args!(
                    "run {} (seed {}, {} trials)",
                    header.id, header.seed, header.planned
                ));
            }
            Event::Decided(decided) => self.decided(decided),
            Event::Kept(trial) => self.kept(trial),
            Event::Skipped(skip) => {
                output::aside(format_args!("skipped {}, because {}", skip.cell, skip.because));
            }
            Event::Notice(text) => self.notice(text),
        }
    }

    /// Says something that the user should know.
    pub(crate) fn notice(&self, text: &str) {
        output::aside(format_args!("note: {text}"));
    }

    fn kept(&mut self, trial: &Trial) {
        // One that was disturbed was counted when it was made first.
        let again = trial
            .discarded
            .iter()
            .any(|attempt| matches!(attempt.because, ValidityWarning::Disturbed { .. }));
        if let Some(choosing) = self.choosing.as_mut().filter(|_| !again) {
            choosing.made += 1;
            choosing.left = choosing.left.saturating_sub(1);
        }
        let place = match self.choosing {
            Some(choosing) => choosing.made.to_string(),
            None => format!("{}/{}", trial.index + 1, self.planned),
        };
        let (cell, mark) = (&trial.cell, mark(trial.arm));
        output::aside(format_args!("[{place}] {cell}{mark}  {}", trial.measurement.kind().in_a_word()));
    }

    /// Says what the trials so far leave open.
    fn decided(&mut self, decided: &DesignDecision) {
        let Some(choosing) = &mut self.choosing else { return };
        choosing.left = decided.trials_left as usize;
        let (made, left) = (choosing.made, Duration::from(decided.most_left));
        let (open, cells) = (&decided.open, decided.cells as usize);
        let block = decided.block.map(|block| format!("block {}: ", block + 1)).unwrap_or_default();
        let text = if choosing.left == 0 {
            match (decided.out_of_time, made < self.planned) {
                (true, _) => format!("the time is over after {made} of at most {} trials", self.planned),
                (false, true) => format!("{made} of at most {} trials were enough", self.planned),
                (false, false) => format!("all {made} trials are made"),
            }
        } else if open.len() == cells {
            format!("{block}measuring all {cells} cells")
        } else {
            let named = open.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
            let more = open.len().saturating_sub(NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!(
                "{block}{} of {cells} cells can still change the answer: {named}{more} (at most {left:.0?})",
                open.len()
            )
        };
        output::aside(text);
    }
}
