//! Matches the results of two runs.

use crate::observations::Observations;

pub(super) type Pair<'m, 'a> = (&'m Observations<'a>, &'m Observations<'a>);

pub(super) struct Matching<'m, 'a> {
    pub(super) pairs: Vec<Pair<'m, 'a>>,
    pub(super) only_a: Vec<String>,
    pub(super) only_b: Vec<String>,
}

pub(super) fn matched<'m, 'a>(a: &'m [Observations<'a>], b: &'m [Observations<'a>]) -> Matching<'m, 'a> {
    let mut matched = Matching { pairs: Vec::new(), only_a: Vec::new(), only_b: Vec::new() };
    let mut taken = vec![false; b.len()];
    // Match equal identifiers first, so that a renamed result does not take another's partner.
    let by_id: Vec<Option<usize>> =
        a.iter().map(|result| take(&mut taken, b, |it| it.record.id == result.record.id)).collect();
    for (result, found) in a.iter().zip(by_id) {
        match found.or_else(|| take(&mut taken, b, |other| alike(result, other))) {
            Some(place) => matched.pairs.push((result, &b[place])),
            None => matched.only_a.push(result.record.id.clone()),
        }
    }
    let left = b.iter().zip(taken).filter(|(_, taken)| !taken);
    matched.only_b = left.map(|(result, _)| result.record.id.clone()).collect();
    matched
}

fn take(
    taken: &mut [bool],
    results: &[Observations<'_>],
    fits: impl Fn(&Observations<'_>) -> bool,
) -> Option<usize> {
    let place = (0..results.len()).find(|place| !taken[*place] && fits(&results[*place]))?;
    taken[place] = true;
    Some(place)
}

fn alike(one: &Observations<'_>, other: &Observations<'_>) -> bool {
    let (one, other) = (one.record, other.record);
    one.path == other.path && one.workload == other.workload && one.levels == other.levels
}
