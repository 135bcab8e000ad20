//! `too-many-queues`: more queues cost CPU time and gain hardly anything.

use findings::Number;

use super::{
    prelude::*,
    queues::{self, Point, Sweep},
};
use crate::{compare::CONFIDENCE, words::change};

pub(crate) const RULE: Rule = Rule::cause("too-many-queues", look);

/// Results within a tenth of the best count as equally good.
const GOOD: f64 = 0.9;
/// An increase in CPU time by this factor is wasted if the gain is at most a tenth.
const DEARER: f64 = 1.25;

struct Waste<'a> {
    point: Point<'a>,
    gain: f64,
    cost: f64,
}

fn look(context: &Context<'_>) -> Vec<Claim> {
    queues::sweeps(context).iter().filter_map(|sweep| claim(sweep, context)).collect()
}

/// The reference is the smallest number of queues that is as good as the best. Each larger number is compared with
/// it, both at their cheapest settings.
fn claim(sweep: &Sweep<'_>, context: &Context<'_>) -> Option<Claim> {
    let best = sweep.best(|_| true).filter(|best| best.value() > 0.0)?;
    let good =
        |point: &&Point<'_>| point.value() >= GOOD * best.value() && queues::cpu(point.result).is_some();
    let fewest = sweep.points.iter().filter(good).map(|point| point.queues).min()?;
    let reference = cheapest(sweep, |point| point.queues == fewest && good(&point))?;
    let mut larger: Vec<u32> =
        sweep.points.iter().map(|point| point.queues).filter(|queues| *queues > fewest).collect();
    larger.sort_unstable();
    larger.dedup();
    let wastes: Vec<Waste<'_>> =
        larger.into_iter().filter_map(|queues| waste(sweep, queues, &reference)).collect();
    (!wastes.is_empty()).then(|| finding(sweep, &reference, &wastes, context))
}

fn waste<'a>(sweep: &Sweep<'a>, queues: u32, reference: &Point<'_>) -> Option<Waste<'a>> {
    let point = cheapest(sweep, |point| point.queues == queues && point.value() >= GOOD * reference.value())
        .or_else(|| sweep.best(|point| point.queues == queues))?;
    let cost = queues::cpu(point.result)? / queues::cpu(reference.result)?;
    let gain = point.value() / reference.value();
    (cost >= DEARER && cost.is_finite() && gain.is_finite()).then_some(Waste { point, gain, cost })
}

fn cheapest<'a>(sweep: &Sweep<'a>, wanted: impl Fn(&Point<'a>) -> bool) -> Option<Point<'a>> {
    let known = sweep
        .points
        .iter()
        .filter(|point| wanted(point))
        .filter_map(|point| Some((queues::cpu(point.result)?, *point)));
    known.smallest(|one| one.0).map(|(_, point)| point)
}

fn finding(sweep: &Sweep<'_>, reference: &Point<'_>, wastes: &[Waste<'_>], context: &Context<'_>) -> Claim {
    let levels: Vec<String> = wastes.iter().map(|waste| waste.point.queues.to_string()).collect();
    let most_gain = wastes.iter().map(|waste| waste.gain).fold(0.0, f64::max);
    let least_cost = wastes.iter().map(|waste| waste.cost).fold(f64::INFINITY, f64::min);
    let sure = wastes.iter().all(|waste| no_more(waste, reference, context));
    let points = [reference].into_iter().chain(wastes.iter().map(|waste| &waste.point));
    let evidence_of_waste = wastes.iter().map(|waste| {
        let suffix = format!(": {} throughput, {} CPU time", change(waste.gain), change(waste.cost));
        evidence(&waste.point, &suffix)
    });
    Claim::new(
        Severity::warning_if(sure),
        phrase![
            "Beyond ",
            count(reference.queues as usize, "queue"),
            format!(", {} queues gain at most ", list(&levels)),
            change(most_gain),
            " throughput for at least ",
            change(least_cost),
            " CPU time",
        ],
    )
    .further(phrase!["The cheapest setting is ", reference.result, "."])
    .with_results(points.map(|point| point.result.id.clone()))
    .with_evidence([evidence(reference, "")].into_iter().chain(evidence_of_waste))
    .with_limits(limitations(sweep, reference, wastes, sure))
    .with_remedy(remedy(sweep, reference))
}

fn limitations(sweep: &Sweep<'_>, reference: &Point<'_>, wastes: &[Waste<'_>], sure: bool) -> Vec<String> {
    let cheapest = "Each number of queues is represented by its cheapest setting within 10 % of the reference, so other \
         settings may differ, too.";
    let open = "More queues may still help: repeat the results that are close.";
    let shares =
        "CPU time is the sum of shares of several machines, which may have different numbers of CPUs.";
    let no_cpu = reference.result.cpu.is_none();
    [Some(cheapest), (!sure).then_some(open), no_cpu.then_some(shares)]
        .into_iter()
        .flatten()
        .map(str::to_owned)
        .chain(dearer(sweep, reference, wastes))
        .collect()
}

fn dearer(sweep: &Sweep<'_>, reference: &Point<'_>, wastes: &[Waste<'_>]) -> Option<String> {
    let beaten = |point: &&Point<'_>| {
        let better = |waste: &&Waste<'_>| {
            queues::cpu(waste.point.result) <= queues::cpu(point.result)
                && waste.point.value() >= point.value()
        };
        let waste = wastes.iter().find(better)?;
        Some((point.result.id.clone(), waste.point.result.id.clone()))
    };
    let same = sweep.points.iter().filter(|point| point.queues == reference.queues);
    let (dear, better) =
        same.filter(|point| queues::cpu(point.result).is_some()).find_map(|point| beaten(&point))?;
    Some(format!(
        "This holds only for the cheapest setting: {better} is no slower than {dear} and needs no more CPU time."
    ))
}

fn no_more(waste: &Waste<'_>, reference: &Point<'_>, context: &Context<'_>) -> bool {
    let change = context.compare(waste.point.measured, reference.measured);
    let interval = change.and_then(|change| change.ratio_interval);
    interval.is_some_and(|interval| interval.high <= GOOD.recip() && interval.confidence >= CONFIDENCE - 0.05)
}

fn evidence(point: &Point<'_>, suffix: &str) -> Evidence {
    let cpu = queues::cpu(point.result).unwrap_or(0.0);
    let rate = Evidence::new(&point.result.label).metric(point.result.metric, point.value());
    let with_cpu = match point.result.cpu {
        Some(_) => rate.text(", ").number(Number::new(cpu, Unit::Cpus)).text(" busy"),
        None => rate.text(", total CPU shares ").share(cpu),
    };
    with_cpu.text(suffix)
}

fn remedy(sweep: &Sweep<'_>, reference: &Point<'_>) -> Remedy {
    let queues = reference.queues;
    Remedy::manual(
        format!("Set {}={queues}, as in {}", sweep.factor, reference.result.label),
        vec![format!("ethtool -L DEVICE combined {queues}  # in the guest")],
    )
    .explained("More queues gain less than a tenth, and the CPU time is free for other work.")
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::rules::tests::{Case, imported};

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || imported::queues(|_, _| true),
        spares: || imported::queues(|queues, _| queues <= 16),
        severity: Severity::Note,
        says: &[
            "Beyond 16 queues, ",
            "32 and 40 queues gain at most +8",
            "This holds only for the cheapest setting: ",
            "Queue=16",
            "total CPU shares 44.0 %",
        ],
        change: None,
    };
}
