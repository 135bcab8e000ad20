//! Ranks alternative paths. None of them contains all layers of another.

use std::cmp::Ordering;

use findings::{Comparison, Difference, Findings, Rank, Ranking, ResultSummary};

use crate::{fits::Fits, observations::Observations};

/// Two paths are compared instead of ranked.
const FEWEST: usize = 3;

type Ranked<'a> = (&'a ResultSummary, &'a Observations<'a>);

pub(crate) fn rankings(findings: &Findings, measured: &[Observations<'_>], fits: &Fits) -> Vec<Ranking> {
    let laddered = |workload: &str| {
        let is_in_a_matrix = findings.matrices.iter().any(|matrix| matrix.workload == workload);
        is_in_a_matrix || findings.cost_breakdowns.iter().any(|breakdown| breakdown.workload == workload)
    };
    let mut groups: Vec<Vec<Ranked<'_>>> = Vec::new();
    for result in findings.results.iter().zip(measured).filter(|(result, _)| !laddered(&result.workload)) {
        let alike = |group: &&mut Vec<Ranked<'_>>| {
            group.first().is_some_and(|(first, _)| {
                (&first.workload, &first.levels, first.metric)
                    == (&result.0.workload, &result.0.levels, result.0.metric)
            })
        };
        match groups.iter_mut().find(alike) {
            Some(group) => group.push(result),
            None => groups.push(vec![result]),
        }
    }
    groups.into_iter().filter_map(|group| ranking(group, fits)).collect()
}

fn ranking(mut results: Vec<Ranked<'_>>, fits: &Fits) -> Option<Ranking> {
    let (first, _) = results.first().filter(|_| results.len() >= FEWEST)?;
    let (workload, metric, levels) = (first.workload.clone(), first.metric, first.levels.clone());
    let more_is_better = metric.more_is_better()?;
    results.sort_by(|one, other| better_first(one.0, other.0, more_is_better));
    let best = *results.first()?;
    let mut ranks: Vec<Rank> = Vec::new();
    let (mut first, mut place) = (0, 1);
    for (index, (number, result)) in (1u32..).zip(&results).enumerate() {
        if results[first..index].iter().any(|other| is_worse(result, other, more_is_better, fits)) {
            (first, place) = (index, number);
        }
        ranks.push(Rank {
            place,
            result: result.0.id.clone(),
            path: result.0.path.clone(),
            value: result.0.value.estimate,
            against_best: if number > 1 { against(result, &best, fits) } else { None },
        });
    }
    Some(Ranking { workload, metric, levels, ranks })
}

fn better_first(one: &ResultSummary, other: &ResultSummary, more_is_better: bool) -> Ordering {
    let rising = one.value.estimate.total_cmp(&other.value.estimate);
    if more_is_better { rising.reverse() } else { rising }
}

fn against(this: &Ranked<'_>, that: &Ranked<'_>, fits: &Fits) -> Option<Comparison> {
    fits.compare(this.1, that.1)
}

fn is_worse(result: &Ranked<'_>, other: &Ranked<'_>, more_is_better: bool, fits: &Fits) -> bool {
    let worse = if more_is_better { Difference::Lower } else { Difference::Higher };
    against(result, other, fits).is_some_and(|change| change.verdict == worse)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{analyse, fixtures::Fixture};

    fn places(run: &Fixture) -> Vec<Vec<(u32, String)>> {
        let of = |ranking: Ranking| ranking.ranks.into_iter().map(|rank| (rank.place, rank.path)).collect();
        analyse(&run.record).rankings.into_iter().map(of).collect()
    }

    fn four(blocks: u32) -> Fixture {
        let mut run = Fixture::new(blocks);
        run.path("bare", &["veth", "bridge"]);
        for path in ["microvm", "qemu", "qemu-vhost"] {
            run.path(path, &["virtio", "bridge"]);
        }
        run
    }

    #[test]
    fn indistinguishable_paths_share_a_rank() {
        let mut run = four(6);
        for (path, rate, nanos) in [
            ("bare", 23e9, 65e3),
            ("microvm", 10.05e9, 178e3),
            ("qemu", 10e9, 130e3),
            ("qemu-vhost", 13e9, 96e3),
        ] {
            run.stream(path, &[], rate).ping(path, &[], nanos);
        }
        let ranked = |places: [(u32, &str); 4]| places.map(|(place, path)| (place, path.to_owned())).to_vec();
        assert_eq!(
            places(&run),
            [
                ranked([(1, "bare"), (2, "qemu-vhost"), (3, "microvm"), (3, "qemu")]),
                ranked([(1, "bare"), (2, "qemu-vhost"), (3, "qemu"), (4, "microvm")]),
            ]
        );
    }

    #[test]
    fn too_few_trials_give_all_paths_the_same_rank() {
        let mut run = four(2);
        run.stream("bare", &[], 1e9).stream("qemu", &[], 3e9).stream("microvm", &[], 2e9);
        let order = [(1, "qemu"), (1, "microvm"), (1, "bare")].map(|(place, path)| (place, path.to_owned()));
        assert_eq!(places(&run), [order.to_vec()]);
    }

    #[test]
    fn nested_paths_and_two_paths_are_not_ranked() {
        let mut run = Fixture::new(6);
        run.path("wire", &["wire"]).path("tunnel", &["wire", "vxlan"]).path("bridge", &["wire", "bridge"]);
        run.stream("wire", &[], 3e9).stream("tunnel", &[], 2e9).stream("bridge", &[], 1e9);
        run.ping("tunnel", &[], 9e3).ping("bridge", &[], 8e3);
        assert_eq!(places(&run), Vec::<Vec<_>>::new());
    }
}
