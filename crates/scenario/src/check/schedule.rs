//! The schedule: counts and times in range, and every default.

use units::Nanos;

use crate::{diagnosis::Problem, document::Document, scenario::Schedule};

const TRIALS: u32 = 5;
const MOST_TRIALS: u32 = 1000;
const PAUSE: Nanos = Nanos::from_millis(50);
const LONGEST_PAUSE: Nanos = Nanos::from_secs(60);

/// The schedule of the document.
pub(crate) fn schedule(document: &Document) -> Result<Schedule, Vec<Problem>> {
    let (table, mut problems) = (&document.schedule, Vec::new());
    let trials = table.trials.as_ref().map_or(TRIALS, |trials| *trials.get_ref());
    if let Some(written) = table.trials.as_ref().filter(|_| !(1..=MOST_TRIALS).contains(&trials)) {
        let message = format!("{trials} trials of each cell are out of range");
        let help = format!("take 1 to {MOST_TRIALS}; five or more give an interval");
        problems.push(Problem::new(written.span(), message, "out of range").help(help));
    }
    let pause = table.pause.as_ref().map_or(PAUSE, |pause| pause.get_ref().0);
    if let Some(written) = table.pause.as_ref().filter(|_| pause > LONGEST_PAUSE) {
        let message = format!("a pause of {pause} between trials is out of range");
        problems.push(
            Problem::new(written.span(), message, "out of range")
                .help(format!("take {LONGEST_PAUSE} or less")),
        );
    }
    if problems.is_empty() { Ok(Schedule { trials, pause, seed: table.seed }) } else { Err(problems) }
}
