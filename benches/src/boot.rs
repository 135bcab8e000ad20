//! Bench `boot`: the time until the guest's agent is ready, compared with the kernel's share of the same boot.

use std::{process::Command, time::Duration};

use anyhow::{Context, ensure};

use crate::{
    bench::Bench,
    comparison::{Comparison, Pairing, Subject, compare},
    process,
    rounds::{self, Bounds, Contender, Measured, Taken},
    target::Target,
};

pub(crate) const BENCH: Bench = Bench { name: SUBJECT.name, run };

const SUBJECT: Subject = Subject {
    name: "boot",
    what: "a guest of 1 CPU and 512 MiB, from the start of QEMU until its agent is ready",
    units: &["s"],
};

const TARGETS: &[Target] = &[Target::at_most(1.3)];

const PAIRINGS: &[Pairing] = &[
    Pairing { ours: "plumb, q35", peer: "only its kernel, q35", targets: TARGETS },
    Pairing { ours: "plumb, microvm", peer: "only its kernel, microvm", targets: TARGETS },
];

const BOARDS: [(&str, &Pairing); 2] = [("q35", &PAIRINGS[0]), ("microvm", &PAIRINGS[1])];

const REST: Duration = Duration::from_millis(100);
const LONGER: Duration = Duration::from_secs(30);

fn run(bounds: &Bounds) -> anyhow::Result<Vec<Comparison>> {
    if let Err(error) = boot("q35") {
        rounds::skipped(SUBJECT.name, &error);
        return Ok(Vec::new());
    }
    let guest = |(board, pairing): &(&'static str, &'static Pairing)| {
        Box::new(Guest { board, name: pairing.ours }) as Box<dyn Contender>
    };
    let mut contenders: Vec<Box<dyn Contender>> = BOARDS.iter().map(guest).collect();
    let taken = rounds::take(SUBJECT.name, &mut contenders, &bounds.for_longer(LONGER), REST);
    Ok(compare(&SUBJECT, PAIRINGS, &apart(&taken)))
}

fn apart(taken: &[Taken]) -> Vec<Taken> {
    let side = |taken: &Taken, name: &'static str, which: usize| Taken {
        name,
        rounds: taken
            .rounds
            .iter()
            .map(|round| Measured::from(round.values.get(which).copied().into_iter().collect::<Vec<_>>()))
            .collect(),
        others: taken.others,
        failure: taken.failure.clone(),
    };
    let pairing = |taken: &Taken| PAIRINGS.iter().find(|pairing| pairing.ours == taken.name);
    let both =
        |taken| pairing(taken).map(|pairing| [side(taken, pairing.ours, 0), side(taken, pairing.peer, 1)]);
    taken.iter().filter_map(both).flatten().collect()
}

struct Guest {
    board: &'static str,
    name: &'static str,
}

impl Contender for Guest {
    fn name(&self) -> &'static str {
        self.name
    }

    fn measure(&mut self) -> anyhow::Result<Measured> {
        Ok(boot(self.board)?.to_vec().into())
    }
}

fn boot(board: &str) -> anyhow::Result<[f64; 2]> {
    let mut command = Command::new(process::plumb()?);
    let output = command
        .args(["vm", "run", "--json", "--probe", "none", "--board", board])
        .output()
        .context("start plumb")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr).trim());
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).context("plumb prints JSON")?;
    let seconds = |key: &str| document[key].as_f64().map(|it| it / 1e9).with_context(|| format!("no {key}"));
    Ok([seconds("ready_within")?, seconds("booted_within")?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_values_of_a_boot_are_a_pair() {
        let rounds = vec![vec![3.0, 2.5].into(), vec![4.0, 3.0].into()];
        let taken = [Taken { name: PAIRINGS[1].ours, rounds, ..Taken::default() }];
        let rows = compare(&SUBJECT, PAIRINGS, &apart(&taken));
        let pairs: Vec<_> = rows.iter().map(|row| (row.ours, row.peer, row.pairs.clone())).collect();
        assert_eq!(pairs, [("plumb, microvm", "only its kernel, microvm", vec![(2.5, 3.0), (3.0, 4.0)])]);
    }
}
