//! `single-queue-bound`: a single queue is saturated, no matter how many connections use it.

use super::{
    prelude::*,
    queues::{self, Point, Sweep},
    significance::{self, LEAST_RATIO, Side},
};
use crate::words::change;

pub(crate) const RULE: Rule = Rule::cause("single-queue-bound", look);

/// CPUs busier than this may be the bottleneck instead of the queue.
const BUSY: f64 = 0.9;
/// Minimum gain from more queues if the number of connections differs, too.
const MUCH_MORE: f64 = 1.25;
/// The curve is flat if doubling the connections gains less than this.
const FLAT: f64 = 1.15;

fn look(context: &Context<'_>) -> Vec<Claim> {
    let claim = |sweep: &Sweep<'_>| {
        let one = sweep.best(|point| point.queues == 1).filter(|one| one.value() > 0.0)?;
        let idle = queues::busiest(one.result).is_none_or(|busy| busy < BUSY);
        if !idle {
            return None;
        }
        at_equal_settings(sweep, context)
            .or_else(|| at_other_settings(sweep, &one))
            .or_else(|| alone(sweep, &one))
    };
    queues::sweeps(context).iter().filter_map(claim).collect()
}

/// This comparison is the strongest evidence, because it has an interval.
fn at_equal_settings(sweep: &Sweep<'_>, context: &Context<'_>) -> Option<Claim> {
    let ones = || sweep.points.iter().filter(|point| point.queues == 1);
    let pairs = ones().flat_map(|one| {
        let more = sweep
            .points
            .iter()
            .filter(|more| one.value() > 0.0 && more.queues > 1 && sweep.else_equal(one, more));
        more.map(move |more| (one, more))
    });
    let compared: Vec<_> = pairs
        .filter_map(|(one, more)| Some((one, more, context.compare(more.measured, one.measured)?)))
        .collect();
    let gains = compared.iter().filter_map(|(one, more, change)| {
        let weighed = significance::weigh(change)?;
        (weighed.side == Side::Higher && change.ratio >= LEAST_RATIO)
            .then_some((*one, *more, change, weighed))
    });
    let best = gains.max_by(|a, b| a.3.sure.cmp(&b.3.sure).then(a.2.ratio.total_cmp(&b.2.ratio)))?;
    let (one, more, change, weighed) = best;
    let mut finding = finding(sweep, one, more, !weighed.sure);
    finding.evidence.insert(
        0,
        Evidence::new(format!("{}={} vs 1, all else equal", sweep.factor, more.queues)).ratio(change),
    );
    finding.limitations.extend(weighed.limitation.map(str::to_owned));
    finding.limitations.extend(significance::of_many(compared.len()));
    Some(finding)
}

/// Claims that one queue is saturated at any setting, while more queues at other settings carry more.
fn at_other_settings(sweep: &Sweep<'_>, one: &Point<'_>) -> Option<Claim> {
    let more =
        sweep.best(|point| point.queues > 1).filter(|more| (more.value() / one.value()).is_finite())?;
    let flat = second_best(sweep, one).is_some_and(|second| one.value() < FLAT * second.value());
    (flat && more.value() >= MUCH_MORE * one.value()).then(|| {
        let mut finding = finding(sweep, one, &more, true);
        let equal = sweep.points.iter().filter(|point| point.queues > 1 && sweep.else_equal(one, point));
        let best = equal.largest(|a| a.value());
        finding.limitations.push(match best {
            Some(best) => format!(
                "Other settings differ too: at the settings of {}, {} queues gain only {}.",
                one.result.label,
                best.queues,
                change(best.value() / one.value())
            ),
            None => "Other settings differ too and may explain the gain.".into(),
        });
        finding
    })
}

/// Handles sweeps with only one queue. More connections gain nothing, although CPUs are idle.
fn alone(sweep: &Sweep<'_>, one: &Point<'_>) -> Option<Claim> {
    if sweep.points.iter().any(|point| point.queues > 1) || queues::busiest(one.result).is_none() {
        return None;
    }
    let most = sweep
        .points
        .iter()
        .filter(|point| queues::streams(point) > Some(1))
        .max_by_key(|p| queues::streams(p))?;
    let fewest = sweep.points.iter().min_by_key(|point| queues::streams(point))?;
    let doubled = queues::streams(most)? >= queues::streams(fewest)?.saturating_mul(2);
    let flat = most.value() < FLAT * fewest.value();
    (doubled && flat).then(|| {
        let mut finding = finding(sweep, fewest, most, true);
        finding.limitations.push("More queues were not measured, so their gain is unknown.".into());
        finding
    })
}

fn second_best<'a>(sweep: &Sweep<'a>, one: &Point<'_>) -> Option<Point<'a>> {
    sweep.best(|point| point.queues == 1 && point.result.id != one.result.id)
}

fn finding(sweep: &Sweep<'_>, one: &Point<'_>, more: &Point<'_>, unsure: bool) -> Claim {
    let as_evidence = |point: &Point<'_>| {
        let rate = Evidence::new(&point.result.label).metric(point.result.metric, point.value());
        match queues::busiest(point.result) {
            Some(busy) => rate.text(", the busiest machine at ").share(busy).text(" of its CPUs"),
            None => rate,
        }
    };
    let own = sweep.points.iter().filter(|point| point.queues == 1 || point.result.id == more.result.id);
    claim(one, more, unsure)
        .with_results(own.clone().map(|point| point.result.id.clone()))
        .with_evidence(own.map(as_evidence))
        .with_limits([
            "A hash assigns connections to queues, so several may share one while others are idle.",
        ])
        .with_remedy(remedy())
}

fn claim(one: &Point<'_>, more: &Point<'_>, unsure: bool) -> Claim {
    let rate = |point: &Point<'_>| value(point.result.metric, point.value());
    let gained = change(more.value() / one.value());
    let severity = if unsure { Severity::Note } else { Severity::Warning };
    if more.queues == 1 {
        Claim::new(severity, "One queue does not scale with more connections").detail(phrase![
            rate(one),
            " with ",
            one.result,
            ", ",
            rate(more),
            " with ",
            more.result,
        ])
    } else {
        Claim::new(severity, format!("One queue {} the bottleneck", if unsure { "may be" } else { "is" }))
            .detail(phrase![
                "it carries at most ",
                rate(one),
                format!(", {} queues carry ", more.queues),
                rate(more),
                " (",
                gained,
                format!("), in {}", one.result.workload),
            ])
    }
}

fn remedy() -> Remedy {
    Remedy::manual(
        "Give the device more queues, up to one per vCPU, and use several connections",
        vec!["ethtool -L DEVICE combined QUEUES  # in the guest".into()],
    )
    .explained("Then check where the gain ends (`too-many-queues`).")
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, made};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || made::queued(&[("1", 10e9, 1200), ("4", 18e9, 1600)]),
        spares: || made::queued(&[("1", 10e9, 1950), ("4", 18e9, 1960)]),
        severity: Severity::Warning,
        says: &[
            "One queue is the bottleneck: ",
            "4 queues carry 18.0 Gbit/s",
            "queues=4 vs 1, all else equal",
        ],
        change: None,
    };
}
