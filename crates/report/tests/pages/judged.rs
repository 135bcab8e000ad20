//! A page shows a comparison with the same value and verdict in all places.

use std::collections::BTreeMap;

use findings::{Basis, Comparison, Difference, Findings, Interval};
use report::{Format, Judgement, Options, live_results, render};

use crate::sample;

const VERDICTS: [Difference; 4] =
    [Difference::Lower, Difference::None, Difference::Higher, Difference::Unclear];

fn comparisons(findings: &mut Findings) -> Vec<(String, &mut Comparison)> {
    let mut all = Vec::new();
    let named = |one: &str, other: &str| format!("{one} against {other}");
    let baselines: BTreeMap<String, String> = findings
        .results
        .iter()
        .filter(|result| result.baseline)
        .map(|result| (result.workload.clone(), result.id.clone()))
        .collect();
    for result in &mut findings.results {
        let name = baselines.get(&result.workload).map(|baseline| named(&result.id, baseline));
        all.extend(name.zip(result.against_baseline.as_mut()));
    }
    for breakdown in &mut findings.cost_breakdowns {
        let results: BTreeMap<String, String> =
            breakdown.steps.iter().map(|step| (step.path.clone(), step.result.clone())).collect();
        for step in &mut breakdown.steps {
            let name = step.below.as_ref().map(|below| named(&step.result, &results[below]));
            all.extend(name.zip(step.cost.as_mut()));
        }
    }
    for effect in &mut findings.effects {
        all.push((named(&effect.result, &effect.reference_result), &mut effect.change));
    }
    for pair in findings.matched_pairs.iter_mut().flat_map(|matched_pairs| &mut matched_pairs.pairs) {
        all.push((named(&pair.with, &pair.without), &mut pair.change));
    }
    for ranking in &mut findings.rankings {
        let best = ranking.ranks.first().map(|rank| rank.result.clone()).unwrap_or_default();
        for rank in &mut ranking.ranks {
            all.extend(rank.against_best.as_mut().map(|comparison| (named(&rank.result, &best), comparison)));
        }
    }
    all
}

fn numbered(number: usize, verdict: Difference) -> Comparison {
    // This reference is large enough that values and differences are shown in millions without decimals.
    let (ratio, reference) = (0.205 + 0.02 * number as f64, 401e6);
    let difference = reference * (ratio - 1.0);
    let around = |value: f64, by: f64| Some(Interval { low: value - by, high: value + by, confidence: 0.95 });
    Comparison {
        ratio,
        ratio_interval: around(ratio, 0.003),
        difference,
        difference_interval: around(difference, 0.003 * reference),
        verdict,
        basis: Basis::Trials,
    }
}

fn written(comparison: &Comparison) -> Vec<String> {
    let digits = |value: f64| units::significant(value, 3).trim_end_matches('0').to_owned();
    let range = |interval: Interval, scale: f64, sign: &str| {
        format!("({sign}{} to {sign}{}", digits(interval.low * scale), digits(interval.high * scale))
    };
    let ratio = comparison.ratio_interval.expect("it was given one");
    let difference = comparison.difference_interval.expect("it was given one");
    vec![range(ratio, 100.0, ""), range(ratio, 1.0, ""), range(difference, 1e-6, "+")]
}

fn shown<'a>(page: &'a str, comparison: &Comparison, others: &[String]) -> Vec<&'a str> {
    let places = written(comparison);
    let behind = |line: &'a str| {
        let at = places.iter().find_map(|place| line.find(place.as_str()))?;
        let end = others.iter().filter_map(|other| line[at..].find(other.as_str())).min();
        Some(&line[at..end.map_or(line.len(), |end| at + end)])
    };
    page.lines().filter_map(behind).collect()
}

fn check(name: &str, findings: &Findings) -> usize {
    let options = Options { colour: false, width: 400, ..Options::default() };
    let mut places = 0;
    for turn in 0..VERDICTS.len() {
        let (mut findings, mut given) = (findings.clone(), BTreeMap::<String, Comparison>::new());
        for (results, comparison) in comparisons(&mut findings) {
            let number = given.len();
            let verdict = VERDICTS[(number + turn) % VERDICTS.len()];
            *comparison = *given.entry(results).or_insert_with(|| numbered(number, verdict));
        }
        for format in [Format::Markdown, Format::Terminal] {
            let page = render(&findings, None, format, &options).replace('\u{a0}', " ");
            for (results, comparison) in &given {
                let others: Vec<String> = given
                    .iter()
                    .filter(|(other, _)| *other != results)
                    .flat_map(|(_, it)| written(it))
                    .collect();
                for behind in shown(&page, comparison, &others) {
                    places += 1;
                    let phrase = [behind.contains("not significant"), behind.contains("unclear")];
                    let right = match comparison.verdict {
                        Difference::None => [true, false],
                        Difference::Unclear => [false, true],
                        Difference::Lower | Difference::Higher => [false, false],
                    };
                    assert_eq!(
                        phrase, right,
                        "{name}, {format:?}, {results}, {:?}: {behind}",
                        comparison.verdict
                    );
                }
            }
        }
    }
    places
}

fn samples() -> [(&'static str, Findings); 6] {
    [
        ("egress", sample::findings()),
        ("alternatives", sample::alternatives::alternatives()),
        ("sweep", sample::sweep::sweep()),
        ("machines", sample::machines::machines()),
        ("probed", sample::probed::probed()),
        ("imported", sample::imported::imported()),
    ]
}

#[test]
fn each_comparison_is_shown_with_its_verdict() {
    let places: usize = samples().iter().map(|(name, findings)| check(name, findings)).sum();
    assert!(places > 100, "only {places} places were found");
}

#[test]
fn live_view_shows_the_values_and_verdicts_of_the_page() {
    let options = Options { colour: false, width: 400, ..Options::default() };
    let mut steps = 0;
    for (name, mut findings) in samples() {
        let own = findings.results.iter_mut().filter_map(|result| result.against_baseline.as_mut());
        for (number, comparison) in own.enumerate() {
            comparison.verdict = VERDICTS[number % VERDICTS.len()];
        }
        let page = render(&findings, None, Format::Markdown, &options).replace('\u{a0}', " ");
        for (result, live) in findings.results.iter().zip(live_results(&findings)) {
            assert_eq!((&live.result, live.trials), (&result.id, result.value.trials));
            assert!(page.contains(&live.value), "{name}: {} of {} is not in {page}", live.value, live.result);
            let range = live.range.map_or(live.value.clone(), |range| format!("({range}"));
            assert!(page.contains(&range), "{name}: {range} of {} is not in {page}", live.result);
            let Some((step, comparison)) = live.step.zip(result.against_baseline) else { continue };
            let phrase = match comparison.verdict {
                Difference::None => Judgement::NotSignificant,
                Difference::Unclear => Judgement::Unclear,
                Difference::Lower | Difference::Higher => match result.metric.more_is_better() {
                    None => Judgement::Different,
                    Some(more) if more == (comparison.verdict == Difference::Higher) => Judgement::Better,
                    Some(_) => Judgement::Worse,
                },
            };
            assert_eq!(step.judgement, phrase, "{name}: {}", live.result);
            assert_eq!(step.change, findings::change(comparison.ratio), "{name}: {}", live.result);
            steps += 1;
        }
    }
    assert!(steps > 10, "only {steps} steps");
}
