//! How a run shows that it goes on: a bar on a terminal, plain lines elsewhere.

use std::time::Duration;

use indicatif::{HumanDuration, ProgressBar, ProgressStyle};
use lab::{DesignDecision, Event};

use samples::{Arm, Trial, ValidityWarning};
use units::Nanos;

use crate::{output, width};

/// Cells that are named where several are told of.
const NAMED: usize = 3;
/// What marks the baseline's repetitions, which show how much equal settings differ.
const AGAIN: &str = " (baseline again)";
/// What marks trials that are watched, whose numbers are not the cell's.
const PROBED: &str = " (with probes)";

/// The progress of one run. Writes to standard error only.
pub(crate) struct Progress {
    bar: ProgressBar,
    planned: usize,
    /// What a trial takes by the plan's estimate, in nanoseconds.
    each: u64,
    cell: String,
    last: Option<String>,
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
    /// What each of these takes by the plan's estimate, in nanoseconds.
    each: u64,
}

impl Choosing {
    fn time_left(&self) -> Nanos {
        Nanos(self.left as u64 * self.each)
    }
}

impl Progress {
    fn new(planned: usize, there: usize, estimate: Nanos) -> Self {
        let bar = ProgressBar::new(planned as u64);
        let template = "{bar:24.cyan/dim} {pos}/{len}  {prefix} left  {wide_msg}";
        let style = ProgressStyle::with_template(template).expect("the template is a valid constant");
        bar.set_style(style.progress_chars("━╸─"));
        let each = estimate.0 / planned.max(1) as u64;
        let progress = Self { bar, planned, each, cell: String::new(), last: None, choosing: None };
        progress.bar.set_position(there as u64);
        progress.show_left(Nanos(planned.saturating_sub(there) as u64 * each));
        if !progress.is_plain() {
            progress.bar.enable_steady_tick(Duration::from_millis(200));
        }
        progress
    }

    /// For a run whose every trial is planned.
    pub(crate) fn of_all(planned: usize, there: usize, estimate: Nanos) -> Self {
        let progress = Self::new(planned, there, estimate);
        if progress.is_plain() {
            let trials = planned.saturating_sub(there);
            let left = Nanos(progress.each * trials as u64);
            let resumed =
                if there > 0 { format!("{there} of {planned} trials are there, ") } else { String::new() };
            output::aside(format_args!(
                "{resumed}{trials} trials to make, about {:.0?}",
                Duration::from(left)
            ));
        }
        progress
    }

    /// For a run whose trials are chosen as it goes on, at most `planned` and for `estimate`.
    pub(crate) fn of_chosen(planned: usize, there: usize, estimate: Nanos) -> Self {
        let mut progress = Self::new(planned, there, estimate);
        progress.choosing =
            Some(Choosing { made: there, left: planned.saturating_sub(there), each: progress.each });
        if progress.is_plain() {
            let resumed = if there > 0 { format!("{there} trials are there, ") } else { String::new() };
            let most = Duration::from(estimate);
            output::aside(format_args!("{resumed}at most {planned} trials in all, {most:.0?}"));
        }
        progress
    }

    /// Shows an event.
    pub(crate) fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Step(step) => self.message((*step).to_owned()),
            Event::Begun(header) => {
                // Fewer than were planned where no probe can run here.
                self.planned = header.planned as usize;
                self.bar.set_length(u64::from(header.planned));
                let text = format!("run {} (seed {}, {} trials)", header.id, header.seed, header.planned);
                self.line(&text);
            }
            Event::Trial { planned, cell } => {
                self.place(planned.index as usize);
                let mark = match planned.arm {
                    Arm::Measure => "",
                    Arm::Again => AGAIN,
                    Arm::Probed => PROBED,
                };
                self.cell = format!("{}{mark}", cell.id);
                self.message(self.cell.clone());
            }
            Event::Rate { text, .. } => self.live(text),
            Event::Decided(decided) => self.decided(decided),
            Event::Kept(trial) => self.kept(trial),
            Event::Skipped(skip) => self.line(&format!("skipped {}, because {}", skip.cell, skip.because)),
            Event::Notice(text) => self.notice(text),
        }
    }

    /// Says something that the user should know.
    pub(crate) fn notice(&mut self, text: &str) {
        self.line(&format!("note: {text}"));
    }

    /// Takes the bar away.
    pub(crate) fn end(&mut self) {
        self.bar.finish_and_clear();
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
        self.place(trial.index as usize + 1);
        if self.is_plain() {
            let place = match self.choosing {
                Some(choosing) => choosing.made.to_string(),
                None => format!("{}/{}", trial.index + 1, self.planned),
            };
            output::aside(format_args!("[{place}] {}  {}", self.cell, trial.measurement.kind().in_a_word()));
        }
    }

    /// Says what the trials so far leave open.
    fn decided(&mut self, decided: &DesignDecision) {
        let Some(choosing) = &mut self.choosing else { return };
        choosing.left = decided.trials_left as usize;
        choosing.each = decided.most_left.0 / choosing.left.max(1) as u64;
        let (made, left) = (choosing.made, Duration::from(decided.most_left));
        let (open, cells) = (&decided.open, decided.cells as usize);
        let block = decided.block.map(|block| format!("block {}: ", block + 1)).unwrap_or_default();
        let text = if choosing.left == 0 {
            let why = if decided.out_of_time { "the time is over" } else { "nothing is left to decide" };
            format!("{why} after {made} of at most {} trials", self.planned)
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
        self.line(&text);
    }

    /// Shows how far the run is; `done` is a place in the plan of all trials.
    fn place(&self, done: usize) {
        match self.choosing {
            Some(choosing) => {
                self.bar.set_length((choosing.made + choosing.left) as u64);
                self.bar.set_position(choosing.made as u64);
                self.show_left(choosing.time_left());
            }
            None => {
                self.bar.set_position(done as u64);
                // The plan's estimate is better than the pace so far: trials take different times.
                self.show_left(Nanos(self.planned.saturating_sub(done) as u64 * self.each));
            }
        }
    }

    fn live(&mut self, now: &str) {
        self.last = Some(now.to_owned());
        self.message(format!("{}  {}", self.last.as_deref().unwrap_or_default(), self.cell));
    }

    fn show_left(&self, left: Nanos) {
        let left = Duration::from_secs(left.seconds().round() as u64);
        self.bar.set_prefix(format!("{}", HumanDuration(left)));
    }

    fn message(&self, text: String) {
        self.bar.set_message(text);
    }

    fn line(&self, text: &str) {
        if self.is_plain() {
            output::aside(format_args!("{text}"));
        } else {
            self.bar.println(width::wrapped(text, width::of_notices()));
        }
    }

    fn is_plain(&self) -> bool {
        self.bar.is_hidden()
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
