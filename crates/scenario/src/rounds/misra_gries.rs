//! Edge colouring that uses at most one colour more than the maximum degree (Misra & Gries, Information
//! Processing Letters 41, 1992).

pub(super) fn colours(edges: &[[usize; 2]], vertices: usize, colours: usize) -> Vec<usize> {
    let mut graph = Colouring { at: vec![vec![None; colours]; vertices] };
    edges.iter().for_each(|[one, other]| graph.add(*one, *other));
    edges.iter().map(|[one, other]| graph.colour(*one, *other).expect("all edges are coloured")).collect()
}

struct Colouring {
    at: Vec<Vec<Option<usize>>>,
}

impl Colouring {
    fn add(&mut self, hub: usize, first: usize) {
        let fan = self.fan(hub, first);
        let (free, wanted) = (self.free(hub), self.free(fan[fan.len() - 1]));
        self.swap_along(hub, wanted, free);
        let end = fan
            .iter()
            .enumerate()
            .position(|(place, leaf)| self.at[*leaf][wanted].is_none() && self.is_fan(hub, &fan[..=place]));
        let end = end.expect("part of the fan is valid (theorem of Misra and Gries)");
        // Shifting the colours down the fan frees the colour of the last edge.
        for place in 0..end {
            let colour =
                self.colour(hub, fan[place + 1]).expect("all edges of a fan except the first are coloured");
            self.at[hub][colour] = None;
            self.at[fan[place + 1]][colour] = None;
            self.set(hub, fan[place], colour);
        }
        self.set(hub, fan[end], wanted);
    }

    /// Builds a maximal fan, in which the colour of each edge is free at the preceding neighbour.
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
