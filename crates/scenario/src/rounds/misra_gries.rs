//! Edge colouring with one colour more than the most edges of a vertex (Misra & Gries, Information Processing Letters 41,
//! 1992). Must not know what a vertex is.

/// A colour below `colours` for each edge of a simple graph of so many vertices; `colours` is more than any vertex has edges.
pub(super) fn colours(edges: &[[usize; 2]], vertices: usize, colours: usize) -> Vec<usize> {
    let mut graph = Colouring { at: vec![vec![None; colours]; vertices] };
    edges.iter().for_each(|[one, other]| graph.add(*one, *other));
    edges.iter().map(|[one, other]| graph.colour(*one, *other).expect("each was given one")).collect()
}

/// Of each vertex, the neighbour that each colour leads to.
struct Colouring {
    at: Vec<Vec<Option<usize>>>,
}

impl Colouring {
    /// Colours one more edge.
    fn add(&mut self, hub: usize, first: usize) {
        let fan = self.fan(hub, first);
        let (free, wanted) = (self.free(hub), self.free(fan[fan.len() - 1]));
        self.swap_along(hub, wanted, free);
        let end = fan
            .iter()
            .enumerate()
            .position(|(place, leaf)| self.at[*leaf][wanted].is_none() && self.is_fan(hub, &fan[..=place]));
        let end = end.expect("one is left of the fan (the theorem of Misra and Gries)");
        // Each edge of the fan takes the colour of the next one, and the last one's is free then.
        for place in 0..end {
            let colour = self.colour(hub, fan[place + 1]).expect("all of a fan but its first have one");
            self.at[hub][colour] = None;
            self.at[fan[place + 1]][colour] = None;
            self.set(hub, fan[place], colour);
        }
        self.set(hub, fan[end], wanted);
    }

    /// The longest row of neighbours, in which the edge to each has a colour that is free at the one before.
    fn fan(&self, hub: usize, first: usize) -> Vec<usize> {
        let mut fan = vec![first];
        loop {
            let last = fan[fan.len() - 1];
            let next = self.at[hub]
                .iter()
                .zip(&self.at[last])
                .find_map(|(leaf, taken)| leaf.filter(|leaf| taken.is_none() && !fan.contains(leaf)));
            match next {
                Some(leaf) => fan.push(leaf),
                None => return fan,
            }
        }
    }

    fn is_fan(&self, hub: usize, fan: &[usize]) -> bool {
        fan.windows(2)
            .all(|two| self.colour(hub, two[1]).is_some_and(|colour| self.at[two[0]][colour].is_none()))
    }

    /// Changes two colours for each other along the path from `start` on; `free` is free there.
    fn swap_along(&mut self, start: usize, first: usize, free: usize) {
        let (mut path, mut colour) = (vec![start], first);
        while let Some(next) = self.at[path[path.len() - 1]][colour] {
            path.push(next);
            colour = if colour == first { free } else { first };
        }
        for vertex in path {
            self.at[vertex].swap(first, free);
        }
    }

    fn colour(&self, one: usize, other: usize) -> Option<usize> {
        self.at[one].iter().position(|neighbour| *neighbour == Some(other))
    }

    fn free(&self, vertex: usize) -> usize {
        self.at[vertex].iter().position(Option::is_none).expect("there are more colours than edges")
    }

    fn set(&mut self, one: usize, other: usize, colour: usize) {
        self.at[one][colour] = Some(other);
        self.at[other][colour] = Some(one);
    }
}
