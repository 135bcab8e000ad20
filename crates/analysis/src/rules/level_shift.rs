//! `level-shift`: the rate jumped during a trial, so its mean matches neither level.

use findings::{LevelShift, ResultShift};
use units::Nanos;

use super::prelude::*;

pub(crate) const RULE: Rule = Rule::measurement("level-shift", look);

/// With a smaller ratio of the levels, the mean is hardly misleading.
const MUCH: f64 = 1.25;
const MOST_LISTED: usize = 6;

struct Jumpy<'a> {
    result: &'a ResultSummary,
    widest: &'a ResultShift,
    average: Option<f64>,
}

fn look(context: &Context<'_>) -> Vec<Claim> {
    let found: Vec<Jumpy<'_>> =
        context.results().filter_map(|(result, measured)| jumpy(result, measured)).collect();
    strongest(found, |it| size(it.widest), |worst, all| finding(worst, all, context))
}

fn jumpy<'a>(result: &'a ResultSummary, measured: &Observations<'_>) -> Option<Jumpy<'a>> {
    let widest = result.shifts.iter().largest(|one| size(one))?;
    let own = measured.points.values().find(|point| point.trial.index == widest.trial);
    Some(Jumpy { result, widest, average: own.map(|point| point.value) })
}

fn size(shift: &ResultShift) -> f64 {
    let (low, high) = (shift.shift.before.min(shift.shift.after), shift.shift.before.max(shift.shift.after));
    if low > 0.0 { high / low } else { f64::MAX }
}

fn finding(worst: &Jumpy<'_>, found: &[Jumpy<'_>], context: &Context<'_>) -> Claim {
    let result = worst.result;
    let others = match found.len() {
        1 => Phrase::default(),
        results => phrase![count(results, "result"), " have level shifts."],
    };
    let free = found.iter().any(|jumpy| {
        context.measured_of(&jumpy.result.id).is_some_and(|measured| measured.record.placement == "free")
    });
    Claim::new(
        Severity::warning_if(size(worst.widest) >= MUCH),
        phrase!["Level shift in ", result, format!(" (trial {} of the run)", ordinal(worst.widest))],
    )
    .detail(jump(result, worst.widest))
    .further(average(worst))
    .further(others)
    .about(found, |jumpy| jumpy.result)
    .with_evidence(found.iter().flat_map(|jumpy| evidence(jumpy.result)))
    .with_limits([
        "Up to 5 in 100 steady series appear to shift by chance, and more if they vary widely.",
        "Drifting rates are reported as `trend`, wandering ones as `unsteady`.",
    ])
    .with_remedy(remedy(free))
}

/// Returns the trial's number, starting at one.
const fn ordinal(shift: &ResultShift) -> u32 {
    shift.trial.saturating_add(1)
}

fn average(jumpy: &Jumpy<'_>) -> Phrase {
    jumpy.average.map_or_else(
        || "Its average matches neither level.".into(),
        |average| {
            phrase!["The trial's average, ", value(jumpy.result.metric, average), ", matches neither level."]
        },
    )
}

/// For example, `from 12.6 Gbit/s to 19.9 Gbit/s after 23.0 s, for 14.0 s`.
fn jump(result: &ResultSummary, shift: &ResultShift) -> Phrase {
    let level = |level: f64| value(result.metric, level);
    let LevelShift { at, before, after } = shift.shift;
    let later = result.shifts.iter().filter(|other| other.trial == shift.trial && other.shift.at > at);
    let next = later.map(|other| other.shift.at).min();
    let stayed = next.map_or_else(|| " and stayed".into(), |next| phrase![", for ", Nanos(next.0 - at.0)]);
    phrase!["from ", level(before), " to ", level(after), " after ", at, stayed]
}

fn evidence(result: &ResultSummary) -> Vec<Evidence> {
    let mut lines: Vec<Evidence> = result
        .shifts
        .iter()
        .take(MOST_LISTED)
        .map(|shift| {
            Evidence::new(format!("trial {} of {}", ordinal(shift), result.label)).text(jump(result, shift))
        })
        .collect();
    if result.shifts.len() > MOST_LISTED {
        let value = count(result.shifts.len() - MOST_LISTED, "more level shift");
        lines.push(Evidence::new(&result.label).text(value));
    }
    lines
}

fn remedy(free: bool) -> Remedy {
    Remedy {
        change: free.then(|| Change::Placement { place: "cross-cpu".into() }),
        ..Remedy::manual(
            "Pin the ends and the virtual machines' threads, and measure again",
            vec!["taskset -cp THREAD".into(), "perf sched record -- sleep 10 && perf sched timehist".into()],
        )
        .explained(
            "Study the levels separately and check what changed at those times: a thread \
             that moved to another CPU or NUMA node, the CPU frequency, a noisy \
             neighbour.",
        )
    }
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, imported};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || imported::vhost(|vhost, path| vhost == "off" && path == "vm0-to-vm1"),
        // The rate varies by 4 %.
        spares: || imported::vhost(|vhost, path| vhost == "off" && path == "vm-to-host"),
        severity: Severity::Warning,
        says: &["from 12.6 Gbit/s to 19.9 Gbit/s after 23.0 s, for ", "The trial's average, 15.3 Gbit/s"],
        change: None,
    };
}
