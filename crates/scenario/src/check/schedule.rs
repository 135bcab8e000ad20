//! Checks the ranges of the schedule and fills in its defaults.

use std::ops::Range;

use samples::Design;
use units::Nanos;

use crate::{
    design::{BUDGETS, LEAST_PRECISE, MOST_TRIALS, PRECISIONS},
    diagnosis::Problem,
    document::{Document, ScheduleTable, Spanned},
    scenario::Schedule,
};

const TRIALS: u32 = 5;
const MOST_TRIALS_OF_ALL: u32 = 1000;
const PAUSE: Nanos = Nanos::from_millis(50);
const LONGEST_PAUSE: Nanos = Nanos::from_secs(60);

pub(crate) fn schedule(document: &Document) -> Result<Schedule, Vec<Problem>> {
    let (table, mut problems) = (&document.schedule, Vec::new());
    let design = design(table, &mut problems);
    let trials = trials(table, &design, &mut problems);
    let pause = table.pause.as_ref().map_or(PAUSE, |pause| pause.0);
    if let Some(written) = table.pause.as_ref().filter(|_| pause > LONGEST_PAUSE) {
        let message = format!("a pause of {pause} between trials is out of range");
        problems.push(out_of_range(written.span(), message, format!("use {LONGEST_PAUSE} or less")));
    }
    let ports = table.ports.unwrap_or_default();
    let at_once = table.at_once.unwrap_or(document.pairs.is_some());
    if problems.is_empty() {
        Ok(Schedule { trials, pause, seed: table.seed, design, ports, at_once })
    } else {
        Err(problems)
    }
}

fn trials(table: &ScheduleTable, design: &Design, problems: &mut Vec<Problem>) -> u32 {
    let usual = if design.is_adaptive() { MOST_TRIALS } else { TRIALS };
    let Some(written) = &table.trials else { return usual };
    let trials = **written;
    if !(1..=MOST_TRIALS_OF_ALL).contains(&trials) {
        let message = format!("{trials} trials per result are out of range");
        let help = format!("use 1 to {MOST_TRIALS_OF_ALL}; a confidence interval needs at least 5");
        problems.push(out_of_range(written.span(), message, help));
    } else if design.precision.is_some() && trials < LEAST_PRECISE {
        let message = format!("`precision` cannot be reached with {trials} trials");
        let help = format!("use {LEAST_PRECISE} or more, or remove `precision`");
        problems.push(Problem::new(written.span(), message, "too few").help(help));
    }
    trials
}

fn design(table: &ScheduleTable, problems: &mut Vec<Problem>) -> Design {
    let design = Design {
        budget: table.budget.as_ref().and_then(|written| {
            let budget = written.0;
            let help = "use 1s to a week, e.g. `10m`";
            in_range(budget, BUDGETS.contains(&budget), written, "budget", help, problems)
        }),
        precision: table.precision.as_ref().and_then(|written| {
            let share = written.0;
            let help = "use 0.1% to 50%, e.g. `2%`";
            in_range(share, PRECISIONS.contains(&share.0), written, "precision", help, problems)
                .map(|share| share.0)
        }),
        objective: table.objective.as_deref().copied().unwrap_or_default(),
        until_clear: table.until.is_some(),
    };
    let seeks = table.precision.as_ref().map(|written| ("precision", written.span()));
    let seeks = seeks.or(table.objective.as_ref().map(|written| ("objective", written.span())));
    if let Some((key, place)) = seeks.filter(|_| design.until_clear) {
        let message = format!("`{key}` and `until` cannot be combined");
        let help = format!(
            "`{key}` searches for the best setting, `until` spends trials on undecided comparisons; \
                            remove one"
        );
        problems.push(Problem::new(place, message, "conflicts with `until`").help(help));
    }
    design
}

fn in_range<T: std::fmt::Display, W>(
    value: T,
    fits: bool,
    written: &Spanned<W>,
    what: &str,
    help: &str,
    problems: &mut Vec<Problem>,
) -> Option<T> {
    if fits {
        return Some(value);
    }
    problems.push(out_of_range(
        written.span(),
        format!("a {what} of {value} is out of range"),
        help.to_owned(),
    ));
    None
}

fn out_of_range(place: Range<usize>, message: String, help: String) -> Problem {
    Problem::new(place, message, "out of range").help(help)
}
