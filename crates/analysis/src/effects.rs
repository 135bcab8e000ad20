//! Compares each level of a factor with the first one, within blocks and with all other settings equal.

use std::collections::BTreeMap;

use findings::FactorEffect;
use samples::ResultRecord;

use crate::{fits::Fits, observations::Observations};

pub(crate) fn effects(
    results: &[ResultRecord],
    measured: &[Observations<'_>],
    fits: &Fits,
) -> Vec<FactorEffect> {
    first_levels(results)
        .into_iter()
        .flat_map(|(factor, reference)| {
            measured.iter().filter_map(move |result| effect(factor, reference, result, measured, fits))
        })
        .collect()
}

fn first_levels(results: &[ResultRecord]) -> BTreeMap<&str, &str> {
    let mut first = BTreeMap::new();
    for (factor, level) in results.iter().flat_map(|result| &result.levels) {
        first.entry(factor.as_str()).or_insert(level.as_str());
    }
    first
}

fn effect(
    factor: &str,
    reference: &str,
    result: &Observations<'_>,
    all: &[Observations<'_>],
    fits: &Fits,
) -> Option<FactorEffect> {
    let record = result.record;
    let level = record.levels.get(factor).filter(|level| *level != reference)?;
    let mut wanted = record.levels.clone();
    wanted.insert(factor.into(), reference.into());
    let same = |other: &&Observations<'_>| {
        other.record.path == record.path
            && other.record.workload == record.workload
            && other.record.levels == wanted
    };
    let other = all.iter().find(same)?;
    let mut others = record.levels.clone();
    others.remove(factor);
    Some(FactorEffect {
        factor: factor.into(),
        reference: reference.into(),
        level: level.clone(),
        path: record.path.clone(),
        workload: record.workload.clone(),
        metric: result.metric,
        others,
        reference_result: other.record.id.clone(),
        result: record.id.clone(),
        change: fits.compare(result, other)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        fixtures::{Fixture, egress},
        observations::gather,
    };
    use findings::Difference;

    fn of(run: &Fixture) -> Vec<FactorEffect> {
        let measured = gather(&run.record);
        effects(&run.record.header.results, &measured, &Fits::of(&measured))
    }

    #[test]
    fn compares_levels_with_the_first_at_equal_other_levels() {
        let effects = of(&egress(6));
        assert_eq!(effects.len(), 5 + 4);
        for effect in &effects {
            assert_eq!((&*effect.reference, &*effect.level), ("on", "off"));
            let wanted = if effect.factor == "vxlan-offload" { Difference::Lower } else { Difference::None };
            assert_eq!(effect.change.verdict, wanted, "{effect:#?}");
            let others: String =
                effect.others.iter().map(|(name, level)| format!("{name}={level}")).collect();
            assert!(
                effect.result.contains(&others) && effect.reference_result.contains(&others),
                "{effect:#?}"
            );
        }
    }

    #[test]
    fn first_level_is_from_the_scenario_even_if_not_measured() {
        let mut run = Fixture::new(5);
        run.path("plain", &["wire"]);
        [("1", 1e9), ("2", 2e9), ("3", 3e9)].iter().for_each(|(level, rate)| {
            run.stream("plain", &[("streams", level)], *rate);
        });
        run.record.trials.retain(|trial| trial.result != "plain/bulk/streams=1");
        assert_eq!(of(&run), []);
    }
}
