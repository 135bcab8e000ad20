//! Matrix of the measurements between hosts.

use std::collections::{BTreeMap, BTreeSet};

use findings::{Contamination, Findings, HostPair, PairMatrix, ResultSummary};
use samples::PathRecord;

use crate::{
    disturbance,
    fits::Fits,
    observations::{self, Observations, Point},
};

/// With two hosts, there is only a path and its reverse.
const FEWEST: usize = 3;

pub(crate) fn matrices(findings: &Findings, measured: &[Observations<'_>], fits: &Fits) -> Vec<PairMatrix> {
    let paths: BTreeMap<&str, &PathRecord> =
        findings.run.paths.iter().map(|path| (path.name.as_str(), path)).collect();
    let mut matrices: Vec<PairMatrix> = Vec::new();
    for result in findings.results.iter().filter(|result| PathRecord::exists(&result.layers)) {
        let Some(pair) = paths.get(result.path.as_str()).and_then(|path| pair(path, result)) else {
            continue;
        };
        let alike = |matrix: &&mut PairMatrix| {
            (&matrix.workload, &matrix.levels, matrix.metric)
                == (&result.workload, &result.levels, result.metric)
        };
        match matrices.iter_mut().find(alike) {
            Some(matrix) => matrix.pairs.push(pair),
            None => matrices.push(PairMatrix {
                workload: result.workload.clone(),
                metric: result.metric,
                levels: result.levels.clone(),
                hosts: Vec::new(),
                pairs: vec![pair],
                contamination: None,
            }),
        }
    }
    // Keep the scenario order, no matter which directions were measured.
    let ends =
        findings.run.paths.iter().flat_map(|path| [&path.from, &path.to]).filter_map(|end| host_of(end));
    let mut seen = BTreeSet::new();
    let hosts: Vec<String> = ends.filter(|host| seen.insert(host.clone())).collect();
    for matrix in &mut matrices {
        let measured: BTreeSet<&String> =
            matrix.pairs.iter().flat_map(|pair| [&pair.from, &pair.to]).collect();
        matrix.hosts = hosts.iter().filter(|host| measured.contains(host)).cloned().collect();
    }
    matrices.retain(|matrix| matrix.hosts.len() >= FEWEST);
    for matrix in &mut matrices {
        matrix.contamination = contamination(matrix, measured, fits);
    }
    matrices
}

fn contamination(matrix: &PairMatrix, measured: &[Observations<'_>], fits: &Fits) -> Option<Contamination> {
    let is_of_matrix = |id: &str| matrix.pairs.iter().any(|pair| pair.result == id);
    let results = measured.iter().filter(|result| is_of_matrix(&result.record.id));
    let results = results.filter(|result| !disturbance::is_mostly_disturbed(result));
    let (mut pairs, mut simultaneous) = (Vec::new(), 0);
    for result in results {
        let accompanied: BTreeMap<u32, Point<'_>> = result
            .points
            .iter()
            .filter(|(_, point)| point.trial.simultaneous > 0)
            .map(|(block, point)| (*block, *point))
            .collect();
        simultaneous =
            accompanied.values().map(|point| point.trial.simultaneous).fold(simultaneous, u32::max);
        pairs.extend(observations::pairs(&result.alone, &accompanied));
    }
    pairs.retain(|(alone, accompanied)| *alone > 0.0 && *accompanied > 0.0);
    Some(Contamination {
        change: fits.of_pairs(&matrix.workload, &pairs)?,
        trials: u32::try_from(pairs.len()).unwrap_or(u32::MAX),
        at_once: simultaneous + 1,
    })
}

fn pair(path: &PathRecord, result: &ResultSummary) -> Option<HostPair> {
    Some(HostPair {
        from: host_of(&path.from)?,
        to: host_of(&path.to)?,
        result: result.id.clone(),
        value: result.value.estimate,
    })
}

fn host_of(device: &str) -> Option<String> {
    Some(device.split_once(':')?.0.to_owned())
}

#[cfg(test)]
mod tests {
    use findings::Difference;

    use crate::{
        analyse,
        fixtures::{Fixture, contaminated},
    };

    #[test]
    fn matrix_needs_three_hosts() {
        let mut run = Fixture::new(2);
        run.pair("a", "b", 9e9);
        assert_eq!(analyse(&run.record).matrices, []);
        run.pair("b", "a", 8e9).pair("c", "a", 7e9);
        let findings = analyse(&run.record);
        let [matrix] = &findings.matrices[..] else { panic!("{:?}", findings.matrices) };
        assert_eq!(matrix.hosts, ["a", "b", "c"]);
        let ways: Vec<_> = matrix.pairs.iter().map(|pair| (pair.from.as_str(), pair.to.as_str())).collect();
        assert_eq!(ways, [("a", "b"), ("b", "a"), ("c", "a")]);
        assert_eq!(findings.rankings, [], "a matrix shows it already");
    }

    #[test]
    fn compares_simultaneous_with_separate_trials_by_block() {
        let mut run = contaminated(0.7);
        let findings = analyse(&run.record);
        let contamination =
            findings.matrices[0].contamination.as_ref().expect("some were measured separately");
        let change = &contamination.change;
        assert!((0.69..0.71).contains(&change.ratio) && change.verdict == Difference::Lower, "{change:?}");
        assert_eq!((contamination.trials, contamination.at_once), (12, 2));
        let alone = |trial: &samples::Trial| trial.arm == samples::Arm::Alone;
        assert!(
            findings.results.iter().all(|result| result.value.estimate < 8e9),
            "no number of a result is theirs"
        );
        run.record.trials.retain(|trial| !alone(trial));
        assert_eq!(analyse(&run.record).matrices[0].contamination, None);
    }

    #[test]
    fn separate_pairs_have_no_contamination() {
        let mut run = contaminated(0.7);
        run.record.trials.iter_mut().for_each(|trial| trial.simultaneous = 0);
        assert_eq!(analyse(&run.record).matrices[0].contamination, None);
    }
}
