//! Explains in sentences with numbers why a setting is recommended.

use crate::order::{ByNumber, sort_descending};
use std::collections::BTreeMap;

use findings::{ConsumerUnit, FrontierPoint, Knee, Objective, Phrase};
use units::significant;

use super::{
    cpu::Cpu,
    sweep::{Choice, Setting, Sweep},
};
use crate::words::{self, count, list, percent};

const ALIKE_CPU: f64 = 0.02;

pub(super) fn sentences(
    sweep: &Sweep<'_>,
    choice: &Choice,
    knees: &[Knee],
    frontier: &[FrontierPoint],
) -> Vec<String> {
    let reason = Reasons { sweep, choice, setting: &sweep.settings[choice.chosen] };
    let mut sentences = match choice.objective {
        Objective::Max => reason.most(),
        Objective::Efficient => reason.efficient(),
        Objective::LowCpu => reason.low_cpu(),
    };
    match choice.objective {
        Objective::Max => sentences.extend(knees.iter().map(|knee| reason.knee(knee))),
        Objective::Efficient => sentences.extend(reason.steps(frontier)),
        Objective::LowCpu => {}
    }
    sentences.extend(reason.ties());
    sentences.extend(left_out(sweep));
    if choice.objective != Objective::Max {
        sentences.extend(alike_cpu(sweep));
        sentences.extend(reason.consumers());
    }
    sentences
}

fn left_out(sweep: &Sweep<'_>) -> Option<String> {
    (!sweep.silent.is_empty())
        .then(|| format!("Excluded because nothing arrived in at least one trial: {}.", list(&sweep.silent)))
}

fn alike_cpu(sweep: &Sweep<'_>) -> Option<String> {
    let costs: Option<Vec<f64>> =
        sweep.settings.iter().map(|setting| Some(setting.cpu.as_ref()?.total)).collect();
    let costs = costs?;
    let (least, most) =
        costs.iter().fold((f64::INFINITY, 0.0f64), |(least, most), cost| (least.min(*cost), most.max(*cost)));
    (most <= least * (1.0 + ALIKE_CPU)).then(|| {
        format!(
            "All settings use the same CPU time to within {}, as when every CPU is busy all the time.",
            percent(ALIKE_CPU)
        )
    })
}

struct Reasons<'s, 'a> {
    sweep: &'s Sweep<'a>,
    choice: &'s Choice,
    setting: &'s Setting<'a>,
}

impl Reasons<'_, '_> {
    fn most(&self) -> Vec<String> {
        let most = if self.sweep.more_is_better() { "highest" } else { "lowest" };
        let best = self.best();
        let all = count(self.sweep.settings.len(), "setting");
        if best.result.id == self.setting.result.id {
            return vec![format!("{} is the {most} of {all}.", self.value(best))];
        }
        let cost = |setting: &Setting<'_>| setting.cpu.as_ref().map(|cpu| self.cpu(cpu.total));
        let instead =
            cost(self.setting).zip(cost(best)).map(|(own, best)| format!(", {own} instead of {best}"));
        vec![format!(
            "The {most} of {all} is {} with {}; this one, {}, is the cheapest of the {} that are statistically \
             tied{}.",
            self.value(best),
            name(&best.result.levels),
            self.value(self.setting),
            self.choice.ties.len() + 1,
            instead.unwrap_or_default()
        )]
    }

    fn efficient(&self) -> Vec<String> {
        let others = self.others_by(|setting| Some(setting.efficiency()?.0));
        let next = others
            .first()
            .map(|other| format!("; next: {} with {}", name(&other.result.levels), self.yields(other)));
        let own = self.yields(self.setting);
        let most = format!("{}: {own}{}.", self.of_those("Most efficient"), next.unwrap_or_default());
        vec![self.compared_with_best(), most]
    }

    fn low_cpu(&self) -> Vec<String> {
        let others = self.others_by(|setting| Some(setting.cpu.as_ref()?.total.recip()));
        let next = others
            .first()
            .map(|other| format!("; next: {} with {}", name(&other.result.levels), self.cost(other)));
        let own = self.cost(self.setting);
        let least = format!("{}: {own}{}.", self.of_those("Cheapest"), next.unwrap_or_default());
        vec![least, self.compared_with_best()]
    }

    /// For example, `Cheapest of the 8 settings within 10 % of the best`.
    fn of_those(&self, rank: &str) -> String {
        let share = format!("{:.0} %", (1.0 - self.choice.objective.least_share()) * 100.0);
        match self.choice.considered.len() {
            0 | 1 => format!("Only setting within {share} of the best"),
            several => format!("{rank} of the {} within {share} of the best", count(several, "setting")),
        }
    }

    fn compared_with_best(&self) -> String {
        let best = self.best();
        if best.result.id == self.setting.result.id {
            return format!("{} is also the best value.", self.value(best));
        }
        let off = (self.setting.value / best.value - 1.0).abs();
        let side = if self.sweep.more_is_better() { "below" } else { "above" };
        format!(
            "{} is {} {side} the best ({} with {}), for {} instead of {}.",
            self.value(self.setting),
            percent(off),
            self.value(best),
            name(&best.result.levels),
            self.cost(self.setting),
            self.cost(best)
        )
    }

    fn steps(&self, frontier: &[FrontierPoint]) -> Vec<String> {
        let Some(at) = frontier.iter().position(|point| point.result == self.setting.result.id) else {
            return Vec::new();
        };
        let below = at.checked_sub(1).map(|below| {
            let point = &frontier[below];
            let off = percent((point.value / self.best().value - 1.0).abs());
            let before = format!("Next cheaper on the Pareto front: {},", name(&point.levels));
            let value = words::value(self.sweep.metric, point.value);
            let effects = self.marginal(&frontier[at]).map(|effects| format!("; from there, {effects}"));
            let cpu = self.cpu(point.cpu);
            format!("{before} {value} ({off} off the best) for {cpu}{}.", effects.unwrap_or_default())
        });
        let above = frontier.get(at + 1).and_then(|point| {
            Some(format!("Next larger, {}: {}.", name(&point.levels), self.marginal(point)?))
        });
        below.into_iter().chain(above).collect()
    }

    fn marginal(&self, point: &FrontierPoint) -> Option<String> {
        let (size, unit) = self.unit();
        let effects = point.marginal?.abs() * size;
        let verb = if self.sweep.more_is_better() { "brings" } else { "saves" };
        Some(format!("each additional {unit} {verb} {}", words::value(self.sweep.metric, effects)))
    }

    fn knee(&self, knee: &Knee) -> String {
        let Knee { factor, level, .. } = knee;
        let plateau = words::value(self.sweep.metric, knee.plateau);
        if knee.curve.last().is_some_and(|(last, _)| last == level) {
            return format!(
                "{factor} has no plateau up to its last level, {level}; higher levels may be better."
            );
        }
        let open = match knee.plausible.as_slice() {
            [first, .., last] => format!(" (the data allow {first} to {last})"),
            _ => String::new(),
        };
        let falls = knee.falls_at.as_ref().map(|level| format!("; worse again from {level} on"));
        format!("Plateau from {factor}={level} on{open}: {plateau}{}.", falls.unwrap_or_default())
    }

    fn ties(&self) -> Option<String> {
        let tolerance = self.choice.tolerance.filter(|_| !self.choice.ties.is_empty())?;
        Some(format!("Single measurements that differ by less than {} count as tied.", percent(tolerance)))
    }

    fn consumers(&self) -> Vec<String> {
        let Some(cpu) = &self.setting.cpu else { return Vec::new() };
        let consumers: Vec<String> = cpu
            .consumers
            .iter()
            .map(|cost| format!("{} ({})", cost.consumer, self.cpu(cost.value)))
            .collect();
        if self.sweep.consumers.len() < 2 {
            return vec![format!("CPU time of {}.", list(&consumers))];
        }
        let shares = match self.sweep.unit {
            Some(ConsumerUnit::Share) => ", each a share of its own CPUs (number unknown)",
            _ => "",
        };
        let mut notes = vec![format!("CPU time is the sum of {}{shares}.", list(&consumers))];
        let others: Vec<String> =
            self.sweep.consumers.iter().filter_map(|consumer| self.by_one(consumer)).collect();
        notes.push(if others.is_empty() {
            "Each of them alone leads to the same setting.".to_owned()
        } else {
            format!("However, {}.", others.join("; "))
        });
        notes
    }

    fn by_one(&self, consumer: &str) -> Option<String> {
        let score = |setting: &Setting<'_>| {
            let cost = setting.cpu.as_ref()?.consumers.iter().find(|cost| cost.consumer == consumer)?.value;
            let good = if self.choice.objective == Objective::LowCpu { 1.0 } else { setting.good() };
            (cost > 0.0).then(|| good / cost)
        };
        let own = score(self.setting)?;
        let first = *self.others_by(score).first()?;
        (score(first)? > own)
            .then(|| format!("the CPU time of {consumer} alone leads to {}", name(&first.result.levels)))
    }

    fn others_by(&self, score: impl Fn(&Setting<'_>) -> Option<f64>) -> Vec<&Setting<'_>> {
        let others = self.choice.considered.iter().filter(|place| **place != self.choice.chosen);
        let mut scored: Vec<(f64, &Setting<'_>)> = others
            .map(|place| &self.sweep.settings[*place])
            .filter_map(|setting| Some((score(setting)?, setting)))
            .collect();
        sort_descending(&mut scored, |one| one.0);
        scored.into_iter().map(|(_, setting)| setting).collect()
    }

    fn best(&self) -> &Setting<'_> {
        let settings = self.sweep.settings.iter();
        settings.largest(|one| one.good()).unwrap_or(self.setting)
    }

    fn value(&self, setting: &Setting<'_>) -> Phrase {
        words::value(self.sweep.metric, setting.value)
    }

    fn cost(&self, setting: &Setting<'_>) -> String {
        setting.cpu.as_ref().map_or_else(|| "unknown CPU time".to_owned(), |cpu: &Cpu| self.cpu(cpu.total))
    }

    /// Formats the value per CPU time, or the value times CPU time if less is better.
    fn yields(&self, setting: &Setting<'_>) -> String {
        let Some((efficiency, _)) = setting.efficiency() else { return "unknown efficiency".to_owned() };
        let (size, unit) = self.unit();
        if self.sweep.more_is_better() {
            return format!("{} per {unit}", words::value(self.sweep.metric, efficiency * size));
        }
        format!("{} times {unit}", words::value(self.sweep.metric, (efficiency * size).recip()))
    }

    fn cpu(&self, cpu: f64) -> String {
        match self.sweep.unit {
            Some(ConsumerUnit::Share) => format!("{} % of CPU", significant(cpu * 100.0, 3)),
            _ => format!("{} CPUs", significant(cpu, 3)),
        }
    }

    fn unit(&self) -> (f64, &'static str) {
        match self.sweep.unit {
            Some(ConsumerUnit::Share) => (0.01, "1 % of CPU"),
            _ => (1.0, "CPU"),
        }
    }
}

fn name(levels: &BTreeMap<String, String>) -> String {
    let levels: Vec<String> = levels.iter().map(|(factor, level)| format!("{factor}={level}")).collect();
    levels.join(", ")
}
