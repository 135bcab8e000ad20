//! Groups pairs into rounds that use each resource at most once, by colouring the edges of the resource
//! graph.

mod misra_gries;

use std::collections::BTreeMap;

/// Returns lists of indexes into `ways`. An entry that connects a resource to itself, e.g. two hosts that
/// share an uplink, uses only that resource.
///
/// All pairs of n resources in one direction take n - 1 rounds if n is even, and n if it is odd. Other sets
/// of pairs take at most d + 1 rounds, where d is the maximum number of pairs per resource.
#[must_use]
pub fn rounds(ways: &[[usize; 2]]) -> Vec<Vec<usize>> {
    let mut pairs: BTreeMap<[usize; 2], Vec<usize>> = BTreeMap::new();
    for (place, [one, other]) in ways.iter().enumerate() {
        pairs.entry([*one.min(other), *one.max(other)]).or_default().push(place);
    }
    // The reverse direction of a pair goes into a second round of the same colour.
    let mut rounds: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    let edges: Vec<[usize; 2]> = pairs.keys().copied().collect();
    for (colour, places) in colours(&edges).into_iter().zip(pairs.into_values()) {
        for (turn, place) in places.into_iter().enumerate() {
            rounds.entry((colour, turn)).or_default().push(place);
        }
    }
    rounds.into_values().collect()
}

/// Edges that share a vertex get different colours. Self-loops share an extra colour.
fn colours(edges: &[[usize; 2]]) -> Vec<usize> {
    let is_loop = |edge: &&[usize; 2]| edge[0] == edge[1];
    let mut vertices: Vec<usize> = edges.iter().filter(|edge| !is_loop(edge)).flatten().copied().collect();
    vertices.sort_unstable();
    let most = vertices.chunk_by(|one, other| one == other).map(<[usize]>::len).max().unwrap_or(0);
    vertices.dedup();
    let place = |vertex: usize| vertices.binary_search(&vertex).expect("all vertices of edges are listed");
    let compact: Vec<[usize; 2]> =
        edges.iter().filter(|edge| !is_loop(edge)).map(|edge| edge.map(place)).collect();
    let circle = circle_rounds(vertices.len());
    let proper = match most + 1 < circle {
        true => misra_gries::colours(&compact, vertices.len(), most + 1),
        false => compact.iter().map(|edge| circle_colour(*edge, circle)).collect(),
    };
    let mut proper = proper.into_iter();
    let own = circle.max(most + 1);
    edges
        .iter()
        .map(|edge| if is_loop(&edge) { own } else { proper.next().expect("one per non-loop edge") })
        .collect()
}

fn circle_rounds(vertices: usize) -> usize {
    if vertices.is_multiple_of(2) { vertices.saturating_sub(1) } else { vertices }
}

/// The circle method (Kirkman 1847). Round r pairs the vertices whose numbers add up to 2r, modulo the odd
/// number of rounds. If the number of vertices is even, the last vertex is paired with the one left over.
fn circle_colour([one, other]: [usize; 2], rounds: usize) -> usize {
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

    fn check(ways: &[[usize; 2]], rounds: &[Vec<usize>]) {
        let mut places: Vec<usize> = rounds.iter().flatten().copied().collect();
        places.sort_unstable();
        assert_eq!(places, (0..ways.len()).collect::<Vec<_>>(), "each way is in one round");
        for round in rounds {
            let mut used = BTreeSet::new();
            for place in round {
                let [one, other] = ways[*place];
                assert!(used.insert(one), "{one} occurs twice in {round:?} of {ways:?}");
                assert!(one == other || used.insert(other), "{other} occurs twice in {round:?} of {ways:?}");
            }
        }
    }

    fn degree(ways: &[[usize; 2]]) -> usize {
        let pairs: BTreeSet<[usize; 2]> = ways
            .iter()
            .filter(|way| way[0] != way[1])
            .map(|way| [way[0].min(way[1]), way[0].max(way[1])])
            .collect();
        let pairs_at = |vertex: usize| pairs.iter().filter(|pair| pair.contains(&vertex)).count();
        pairs.iter().flatten().map(|vertex| pairs_at(*vertex)).max().unwrap_or(0)
    }

    #[test]
    fn schedules_all_pairs_in_minimum_rounds() {
        for count in 2..=41 {
            let ways = all(count);
            let rounds = rounds(&ways);
            check(&ways, &rounds);
            assert_eq!(rounds.len(), if count % 2 == 0 { count - 1 } else { count }, "{count} hosts");
        }
    }

    #[test]
    fn schedules_star_and_ring_in_few_rounds() {
        let star: Vec<[usize; 2]> = (1..30).map(|other| [0, other]).collect();
        check(&star, &rounds(&star));
        assert_eq!(rounds(&star).len(), 29);
        let ring: Vec<[usize; 2]> = (0..99).map(|one| [one, (one + 1) % 99]).collect();
        check(&ring, &rounds(&ring));
        assert!(rounds(&ring).len() <= 3);
    }

    #[test]
    fn gives_pairs_on_one_uplink_their_own_rounds() {
        let ways = [[0, 0], [0, 0], [1, 1], [0, 1], [2, 3]];
        let rounds = rounds(&ways);
        check(&ways, &rounds);
        assert_eq!(rounds, [vec![3, 4], vec![0, 2], vec![1]]);
    }

    proptest! {
        #[test]
        fn uses_each_resource_once_per_round(
            ways in prop::collection::vec([0..24usize, 0..24usize], 0..200),
        ) {
            check(&ways, &rounds(&ways));
        }

        #[test]
        fn needs_at_most_one_round_more_than_degree(
            pairs in prop::collection::btree_set((0..30usize, 0..30usize), 1..120),
        ) {
            let pairs: BTreeSet<[usize; 2]> = pairs.into_iter().filter(|(one, other)| one != other)
                .map(|(one, other)| [one.min(other), one.max(other)]).collect();
            let forward: Vec<[usize; 2]> = pairs.iter().copied().collect();
            prop_assert!(rounds(&forward).len() <= degree(&forward) + 1);
            let both: Vec<[usize; 2]> = forward.iter().flat_map(|[one, other]| [[*one, *other], [*other, *one]]).collect();
            check(&both, &rounds(&both));
            prop_assert_eq!(rounds(&both).len(), 2 * rounds(&forward).len());
        }
    }
}
