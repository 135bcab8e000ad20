//! Pairs in rounds: in each every resource occurs once at most, so that all pairs of it can be measured at the same time. A
//! proper edge colouring of the graph whose vertices are resources. Must not know what is measured.

mod misra_gries;

use std::collections::BTreeMap;

/// The rounds of `ways`, each from one resource to another, by their places in it. Every way is in one round. A way from a
/// resource to itself, as between two hosts behind one uplink, uses that resource alone.
///
/// Each with each are n - 1 rounds of an even number of resources and n of an odd one, for one way of each pair; others are at
/// most one more than the most pairs that a resource has. Both are twice as many where the ways of each pair are two.
#[must_use]
pub fn rounds(ways: &[[usize; 2]]) -> Vec<Vec<usize>> {
    let mut pairs: BTreeMap<[usize; 2], Vec<usize>> = BTreeMap::new();
    for (place, [one, other]) in ways.iter().enumerate() {
        pairs.entry([*one.min(other), *one.max(other)]).or_default().push(place);
    }
    // The ways of one pair share both its resources: the first of each pair makes a round, then the second.
    let mut rounds: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    let edges: Vec<[usize; 2]> = pairs.keys().copied().collect();
    for (colour, places) in colours(&edges).into_iter().zip(pairs.into_values()) {
        for (turn, place) in places.into_iter().enumerate() {
            rounds.entry((colour, turn)).or_default().push(place);
        }
    }
    rounds.into_values().collect()
}

/// A colour for each edge, where no two with a common vertex have the same. Loops have one of their own.
fn colours(edges: &[[usize; 2]]) -> Vec<usize> {
    let is_loop = |edge: &&[usize; 2]| edge[0] == edge[1];
    let mut vertices: Vec<usize> = edges.iter().filter(|edge| !is_loop(edge)).flatten().copied().collect();
    vertices.sort_unstable();
    let most = vertices.chunk_by(|one, other| one == other).map(<[usize]>::len).max().unwrap_or(0);
    vertices.dedup();
    let place = |vertex: usize| vertices.binary_search(&vertex).expect("its edge is among these");
    let compact: Vec<[usize; 2]> =
        edges.iter().filter(|edge| !is_loop(edge)).map(|edge| edge.map(place)).collect();
    let circle = circle_rounds(vertices.len());
    let proper = match most + 1 < circle {
        true => misra_gries::colours(&compact, vertices.len(), most + 1),
        false => compact.iter().map(|edge| of_circle(*edge, circle)).collect(),
    };
    let mut proper = proper.into_iter();
    let own = circle.max(most + 1);
    edges
        .iter()
        .map(|edge| if is_loop(&edge) { own } else { proper.next().expect("one for each that is no loop") })
        .collect()
}

/// How many rounds so many have in which each meets each.
fn circle_rounds(vertices: usize) -> usize {
    if vertices.is_multiple_of(2) { vertices.saturating_sub(1) } else { vertices }
}

/// The circle method (Kirkman 1847): in round r those meet whose numbers add up to 2r, modulo the odd number of rounds; the
/// last of an even number meets the one that would meet itself.
fn of_circle([one, other]: [usize; 2], rounds: usize) -> usize {
    match one.max(other) == rounds {
        true => one.min(other),
        false => (one + other) * rounds.div_ceil(2) % rounds,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn all(count: usize) -> Vec<[usize; 2]> {
        (0..count).flat_map(|one| (one + 1..count).map(move |other| [one, other])).collect()
    }

    /// Each way once, and in no round a resource twice.
    fn check(ways: &[[usize; 2]], rounds: &[Vec<usize>]) {
        let mut places: Vec<usize> = rounds.iter().flatten().copied().collect();
        places.sort_unstable();
        assert_eq!(places, (0..ways.len()).collect::<Vec<_>>(), "each way is in one round");
        for round in rounds {
            let mut used = BTreeSet::new();
            for place in round {
                let [one, other] = ways[*place];
                assert!(used.insert(one), "{one} is twice in {round:?} of {ways:?}");
                assert!(one == other || used.insert(other), "{other} is twice in {round:?} of {ways:?}");
            }
        }
    }

    /// The most pairs that a resource has.
    fn degree(ways: &[[usize; 2]]) -> usize {
        let pairs: BTreeSet<[usize; 2]> = ways
            .iter()
            .filter(|way| way[0] != way[1])
            .map(|way| [way[0].min(way[1]), way[0].max(way[1])])
            .collect();
        let of = |vertex: usize| pairs.iter().filter(|pair| pair.contains(&vertex)).count();
        pairs.iter().flatten().map(|vertex| of(*vertex)).max().unwrap_or(0)
    }

    #[test]
    fn each_with_each_is_a_round_less_than_hosts_of_an_even_number_and_as_many_of_an_odd_one() {
        for count in 2..=41 {
            let ways = all(count);
            let rounds = rounds(&ways);
            check(&ways, &rounds);
            assert_eq!(rounds.len(), if count % 2 == 0 { count - 1 } else { count }, "{count} hosts");
        }
    }

    #[test]
    fn a_star_takes_a_round_a_pair_and_a_ring_three_at_most() {
        let star: Vec<[usize; 2]> = (1..30).map(|other| [0, other]).collect();
        check(&star, &rounds(&star));
        assert_eq!(rounds(&star).len(), 29);
        let ring: Vec<[usize; 2]> = (0..99).map(|one| [one, (one + 1) % 99]).collect();
        check(&ring, &rounds(&ring));
        assert!(rounds(&ring).len() <= 3);
    }

    #[test]
    fn hosts_behind_one_uplink_meet_alone() {
        let ways = [[0, 0], [0, 0], [1, 1], [0, 1], [2, 3]];
        let rounds = rounds(&ways);
        check(&ways, &rounds);
        assert_eq!(rounds, [vec![3, 4], vec![0, 2], vec![1]]);
    }

    proptest! {
        #[test]
        fn whatever_pairs_are_asked_for_no_round_has_a_resource_twice(
            ways in prop::collection::vec([0..24usize, 0..24usize], 0..200),
        ) {
            check(&ways, &rounds(&ways));
        }

        #[test]
        fn pairs_of_a_list_take_one_round_more_at_most_than_a_resource_has_pairs(
            pairs in prop::collection::btree_set((0..30usize, 0..30usize), 1..120),
        ) {
            let pairs: BTreeSet<[usize; 2]> = pairs.into_iter().filter(|(one, other)| one != other)
                .map(|(one, other)| [one.min(other), one.max(other)]).collect();
            let there: Vec<[usize; 2]> = pairs.iter().copied().collect();
            prop_assert!(rounds(&there).len() <= degree(&there) + 1);
            let both: Vec<[usize; 2]> = there.iter().flat_map(|[one, other]| [[*one, *other], [*other, *one]]).collect();
            check(&both, &rounds(&both));
            prop_assert_eq!(rounds(&both).len(), 2 * rounds(&there).len());
        }
    }
}
