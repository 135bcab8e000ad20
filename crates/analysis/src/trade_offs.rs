//! Compares configurations by throughput, latency, CPU time, boot time and memory, and checks requirements.

use std::collections::BTreeMap;

use findings::{
    Basis, Compliance, Configuration, Findings, Judgement, RequiredQuantity, Requirement, ResultSummary,
    Statement, TradeOffs, UnclearReason,
};
use samples::{BootedMachine, ValidityWarning};
use units::{Bytes, Nanos};
use workload::{Metric, ReportedValue, Work};

use crate::single_trial::ALLOWANCE;

/// Returns `None` if there are no requirements and fewer than two configurations have virtual machines.
#[must_use]
pub fn trade_offs(findings: &Findings, requirements: &[Requirement]) -> Option<TradeOffs> {
    let mut looks: Vec<Look<'_>> = Vec::new();
    let mut places: BTreeMap<(&str, &BTreeMap<String, String>), usize> = BTreeMap::new();
    for result in &findings.results {
        let place = *places.entry((&result.path, &result.levels)).or_insert(looks.len());
        if place == looks.len() {
            looks.push(Look { findings, results: Vec::new(), machines: machines(findings, &result.path) });
        }
        looks[place].results.push(result);
    }
    let booted = looks.iter().filter(|look| !look.machines.is_empty()).count();
    if requirements.is_empty() && booted < 2 {
        return None;
    }
    let mut configurations: Vec<Configuration> =
        looks.iter().filter_map(|look| look.configuration(requirements)).collect();
    if !requirements.is_empty() {
        let cost = |it: &Configuration| it.cpu_per_gb.unwrap_or(f64::INFINITY);
        configurations.sort_by(|one, other| {
            one.compliance.cmp(&other.compliance).then(cost(one).total_cmp(&cost(other)))
        });
    }
    Some(TradeOffs { requirements: requirements.to_vec(), configurations })
}

fn machines<'a>(findings: &'a Findings, path: &str) -> Vec<&'a BootedMachine> {
    let path = findings.run.paths.iter().find(|record| record.name == path);
    let of =
        |machine: &&BootedMachine| path.is_some_and(|path| path.hosts().contains(&machine.host.as_str()));
    findings.run.machines.iter().filter(of).collect()
}

struct Look<'a> {
    findings: &'a Findings,
    results: Vec<&'a ResultSummary>,
    machines: Vec<&'a BootedMachine>,
}

/// An end is `None` if there are too few trials or messages.
#[derive(Clone, Copy)]
struct Ends {
    low: Option<f64>,
    high: Option<f64>,
}

struct Value<'a> {
    value: f64,
    ends: Ends,
    /// The measured result, or `None` for a property of the virtual machines.
    result: Option<&'a ResultSummary>,
}

impl<'a> Look<'a> {
    fn configuration(&self, requirements: &[Requirement]) -> Option<Configuration> {
        let first = self.results.first()?;
        let judgements: Vec<Judgement> = requirements.iter().map(|one| self.judged(one)).collect();
        Some(Configuration {
            path: first.path.clone(),
            levels: first.levels.clone(),
            results: self.results.iter().map(|result| result.id.clone()).collect(),
            cpu_per_gb: self.most_cpu_for_bytes().map(|it| it.value),
            boot: self.machines.iter().map(|machine| machine.ready).max(),
            memory: monitor_memory(&self.machines),
            half_round_trips: self.results.iter().any(|result| has_half_round_trips(result)),
            compliance: judgements.iter().map(|it| it.compliance).max().unwrap_or(Compliance::Met),
            judgements,
        })
    }

    /// The worst value decides. An unreliable value that meets the bound counts as unclear.
    fn judged(&self, requirement: &Requirement) -> Judgement {
        let judged = |it: Value<'_>| {
            let compliance = it.ends.judge(requirement);
            let unreliable = it.result.and_then(|result| self.findings.unreliable(&result.id));
            let (compliance, reason) = match (compliance, unreliable) {
                (Compliance::Met, Some(finding)) => {
                    (Compliance::Unclear, Some(UnclearReason::Unreliable(Statement::from(finding))))
                }
                (Compliance::Unclear, _) if it.ends.are_known() => {
                    (compliance, Some(UnclearReason::Interval))
                }
                (Compliance::Unclear, _) => (compliance, Some(UnclearReason::FewMessages)),
                _ => (compliance, None),
            };
            (it.value, Judgement { compliance, value: Some(it.value), reason })
        };
        let worse = |value: f64| if requirement.quantity.more_is_better() { -value } else { value };
        let all = self.values(requirement.quantity).into_iter().map(judged);
        let worst = all.max_by(|(value, one), (other_value, other)| {
            one.compliance.cmp(&other.compliance).then(worse(*value).total_cmp(&worse(*other_value)))
        });
        let unknown = Judgement { compliance: Compliance::Unknown, value: None, reason: None };
        worst.map_or(unknown, |(_, judgement)| judgement)
    }

    fn values(&self, quantity: RequiredQuantity) -> Vec<Value<'a>> {
        let of_machines =
            |value: Option<f64>| value.map(|value| Value { value, ends: Ends::exact(value), result: None });
        match quantity {
            RequiredQuantity::Percentile(share) => {
                let medians = if share == 0.5 { self.judged_by(Metric::RoundTrip) } else { Vec::new() };
                let times = self.results.iter().filter_map(|&result| percentile(result, share));
                let others: Vec<Value<'_>> = times.filter(|_| medians.is_empty()).collect();
                medians.into_iter().chain(others).chain(self.reported(quantity.word())).collect()
            }
            RequiredQuantity::Throughput => self.judged_by(Metric::Throughput),
            RequiredQuantity::CpuTime => self.most_cpu_for_bytes().into_iter().collect(),
            RequiredQuantity::Boot => {
                let boot = self.machines.iter().map(|machine| machine.ready).max();
                of_machines(boot.map(|Nanos(time)| time as f64)).into_iter().collect()
            }
            RequiredQuantity::Memory => {
                of_machines(monitor_memory(&self.machines).map(|Bytes(size)| size as f64))
                    .into_iter()
                    .collect()
            }
        }
    }

    fn judged_by(&self, metric: Metric) -> Vec<Value<'a>> {
        let results = self.results.iter().filter(|result| result.metric == metric);
        let of_trials = |&result: &&'a ResultSummary| {
            let value = result.value;
            // Widen the interval if it does not include the variation between trials.
            let ends = match value.interval {
                Some(it) if value.basis == Basis::Trials => Ends::between(it.low, it.high),
                Some(it) => Ends::between(it.low, it.high).widened(),
                None => Ends::exact(value.estimate).widened(),
            };
            Value { value: value.estimate, ends, result: Some(result) }
        };
        results.map(of_trials).collect()
    }

    fn reported(&self, name: &'static str) -> impl Iterator<Item = Value<'a>> {
        let is_it = move |value: &&ReportedValue| {
            value.quantity == workload::Quantity::Time && value.name.eq_ignore_ascii_case(name)
        };
        self.results.iter().flat_map(move |&result| {
            // If the times look like half round trips, the actual times may be twice as long.
            let most = if has_half_round_trips(result) { 2.0 } else { 1.0 };
            result.reported.iter().filter(is_it).map(move |reported| {
                let value = reported.value;
                Value { value, ends: Ends::between(value, most * value).widened(), result: Some(result) }
            })
        })
    }

    fn most_cpu_for_bytes(&self) -> Option<Value<'a>> {
        let costs = self.results.iter().filter_map(|&result| Some((result, result.cpu?.per_work?)));
        let of_bytes = costs.filter(|(_, cost)| cost.work == Work::Bytes);
        let most = of_bytes.max_by(|(_, one), (_, other)| one.seconds.total_cmp(&other.seconds));
        most.map(|(result, cost)| Value {
            value: cost.seconds,
            ends: Ends::exact(cost.seconds).widened(),
            result: Some(result),
        })
    }
}

fn has_half_round_trips(result: &ResultSummary) -> bool {
    result.warnings.iter().any(|(warning, _)| *warning == ValidityWarning::HalfRoundTrips)
}

fn percentile(result: &ResultSummary, share: f64) -> Option<Value<'_>> {
    let times = result.times()?;
    let it = times.percentile(share)?;
    let ends = Ends { low: it.low.map(|low| low.0 as f64), high: it.high.map(|high| high.0 as f64) };
    let ends = if times.basis == Basis::Trials { ends } else { ends.widened() };
    Some(Value { value: it.time.0 as f64, ends, result: Some(result) })
}

impl Ends {
    const fn between(low: f64, high: f64) -> Self {
        Self { low: Some(low), high: Some(high) }
    }

    const fn exact(value: f64) -> Self {
        Self::between(value, value)
    }

    /// Adds [`ALLOWANCE`] to both ends, because the variation between trials is unknown.
    fn widened(self) -> Self {
        let by = 1.0 + ALLOWANCE;
        Self { low: self.low.map(|low| low / by), high: self.high.map(|high| high * by) }
    }

    const fn are_known(self) -> bool {
        self.low.is_some() && self.high.is_some()
    }

    fn judge(self, requirement: &Requirement) -> Compliance {
        let Self { low, high } = self;
        let (worst, best) = if requirement.quantity.more_is_better() { (low, high) } else { (high, low) };
        if worst.is_some_and(|worst| requirement.is_met_by(worst)) {
            return Compliance::Met;
        }
        if best.is_some_and(|best| !requirement.is_met_by(best)) {
            Compliance::Missed
        } else {
            Compliance::Unclear
        }
    }
}

fn monitor_memory(machines: &[&BootedMachine]) -> Option<Bytes> {
    let all: Option<Vec<Bytes>> = machines.iter().map(|machine| machine.resident).collect();
    all.filter(|all| !all.is_empty()).map(|all| all.into_iter().sum())
}

#[cfg(test)]
mod tests {
    use findings::{Finding, Role, Severity, WorkloadSummary};

    use super::*;
    use crate::{analyse, fixtures::Fixture};

    #[test]
    fn interval_across_the_bound_is_undecided() {
        let judge = |bound: &str, ends: Ends| ends.judge(&bound.parse().expect("a bound"));
        let least = |ends| judge("throughput>10Gbit/s", ends);
        assert_eq!(least(Ends::between(10.5e9, 12e9)), Compliance::Met);
        assert_eq!(least(Ends::between(9.5e9, 12e9)), Compliance::Unclear);
        assert_eq!(least(Ends::between(8e9, 9.5e9)), Compliance::Missed);
        assert_eq!(least(Ends::exact(12e9).widened()), Compliance::Unclear);
        assert_eq!(least(Ends::exact(13e9).widened()), Compliance::Met);
        let most = |ends| judge("p50<50us", ends);
        assert_eq!(most(Ends::between(48e3, 51e3)), Compliance::Unclear);
        assert_eq!(most(Ends::exact(50e3)), Compliance::Missed);
        assert_eq!(most(Ends { low: Some(20e3), high: None }), Compliance::Unclear, "too few messages");
        assert_eq!(most(Ends { low: Some(60e3), high: None }), Compliance::Missed);
    }

    fn required(findings: &Findings, bounds: &[&str]) -> Vec<(String, Compliance, Option<UnclearReason>)> {
        let bounds: Vec<Requirement> = bounds.iter().map(|bound| bound.parse().expect("a bound")).collect();
        let judged = trade_offs(findings, &bounds).expect("requirements are given").configurations;
        let reason = |it: &Configuration| it.judgements.iter().find_map(|judged| judged.reason.clone());
        judged.into_iter().map(|it| (it.path.clone(), it.compliance, reason(&it))).collect()
    }

    fn two_paths() -> Findings {
        let mut run = Fixture::new(6);
        run.path("plain", &["wire"]).path("tunnel", &["wire", "vxlan"]);
        run.stream("plain", &[], 20e9).stream("tunnel", &[], 10e9).ping("plain", &[], 4e4);
        analyse(&run.record)
    }

    #[test]
    fn configuration_has_to_meet_all_requirements() {
        let findings = two_paths();
        let order = |bounds: &[&str]| {
            required(&findings, bounds).into_iter().map(|(path, compliance, _)| (path, compliance)).collect()
        };
        let expected =
            |judged: [(&str, Compliance); 2]| judged.map(|(path, it)| (path.to_owned(), it)).to_vec();
        let met = ("plain", Compliance::Met);
        let judged: Vec<_> = order(&["throughput>15Gbit/s"]);
        assert_eq!(judged, expected([met, ("tunnel", Compliance::Missed)]));
        let judged: Vec<_> = order(&["throughput>5Gbit/s", "p50<1ms"]);
        assert_eq!(judged, expected([met, ("tunnel", Compliance::Unknown)]), "it has no round trips");
        assert_eq!(trade_offs(&findings, &[]), None, "there are no virtual machines");
    }

    #[test]
    fn unreliable_values_never_meet_a_requirement() {
        let mut findings = two_paths();
        let mut bimodal = Finding::new("bimodal", Role::Measurement, Severity::Serious, "two levels");
        bimodal.results.push("plain/bulk".to_owned());
        let reason = Some(UnclearReason::Unreliable(Statement::from(&bimodal)));
        findings.findings.push(bimodal);
        let judged = required(&findings, &["throughput>5Gbit/s"]);
        assert_eq!(judged[0].1, Compliance::Met);
        assert_eq!(judged[1], ("plain".to_owned(), Compliance::Unclear, reason));
    }

    #[test]
    fn half_round_trips_may_be_twice_as_long() {
        let mut findings = two_paths();
        findings.results.retain(|result| result.workload == "ping");
        let result = &mut findings.results[0];
        result.measured = WorkloadSummary::Reported;
        result.reported =
            vec![ReportedValue { name: "p99".into(), quantity: workload::Quantity::Time, value: 65_700.0 }];
        assert_eq!(required(&findings, &["p99<100us"])[0].1, Compliance::Met);
        findings.results[0].warnings.push((ValidityWarning::HalfRoundTrips, 1));
        assert_eq!(required(&findings, &["p99<100us"])[0].1, Compliance::Unclear);
    }
}
