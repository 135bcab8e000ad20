//! Hosts that were measured against each other, as a matrix. Must not judge it.

use std::collections::BTreeMap;

use findings::{CellSummary, Findings, HostPair, PairMatrix};
use samples::PathRecord;

/// Two hosts are a path there and one back.
const FEWEST: usize = 3;

/// One matrix for each workload and setting of its factors at which enough hosts were measured.
pub(crate) fn matrices(findings: &Findings) -> Vec<PairMatrix> {
    let paths: BTreeMap<&str, &PathRecord> =
        findings.run.paths.iter().map(|path| (path.name.as_str(), path)).collect();
    let mut matrices: Vec<PairMatrix> = Vec::new();
    for cell in findings.cells.iter().filter(|cell| PathRecord::exists(&cell.layers)) {
        let Some(pair) = paths.get(cell.path.as_str()).and_then(|path| pair(path, cell)) else { continue };
        let alike = |matrix: &&mut PairMatrix| {
            (&matrix.workload, &matrix.levels, matrix.metric) == (&cell.workload, &cell.levels, cell.metric)
        };
        match matrices.iter_mut().find(alike) {
            Some(matrix) => matrix.pairs.push(pair),
            None => matrices.push(PairMatrix {
                workload: cell.workload.clone(),
                metric: cell.metric,
                levels: cell.levels.clone(),
                hosts: Vec::new(),
                pairs: vec![pair],
            }),
        }
    }
    for matrix in &mut matrices {
        for host in matrix.pairs.iter().flat_map(|pair| [&pair.from, &pair.to]) {
            if !matrix.hosts.contains(host) {
                matrix.hosts.push(host.clone());
            }
        }
    }
    matrices.retain(|matrix| matrix.hosts.len() >= FEWEST);
    matrices
}

fn pair(path: &PathRecord, cell: &CellSummary) -> Option<HostPair> {
    let host = |device: &str| Some(device.split_once(':')?.0.to_owned());
    Some(HostPair {
        from: host(&path.from)?,
        to: host(&path.to)?,
        cell: cell.id.clone(),
        value: cell.value.median,
    })
}

#[cfg(test)]
mod tests {
    use crate::{analyse, fixtures::Fixture};

    #[test]
    fn three_hosts_are_a_matrix_and_two_are_not() {
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
}
