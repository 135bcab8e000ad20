//! Checks the size of a plan before expanding it, because 12 KB of text can ask for millions of trials.

use crate::{
    diagnosis::Problem,
    document::{Document, Entry, Pairs, WorkloadTable},
    plan_size::PlanSize,
};

pub(crate) fn size(document: &Document, trials: u32) -> Option<Problem> {
    let paths = document.paths.0.len() + pair_ways(document);
    let results = document.workloads.iter().map(|entry| results(entry, paths)).fold(0, usize::saturating_add);
    let too_large = PlanSize { results, trials }.check().err()?;
    let place = match &document.pairs {
        Some(pairs) => pairs.span(),
        None => document.workloads.iter().next().map_or(0..0, |entry| entry.name.span()),
    };
    let help = "name fewer hosts or pairs, restrict workloads with `paths`, or lower `trials` in [schedule]";
    Some(Problem::new(place, too_large.to_string(), "too many results").help(help))
}

fn pair_ways(document: &Document) -> usize {
    let hosts = document.existing_hosts().len();
    match document.pairs.as_deref() {
        None => 0,
        Some(Pairs::All) => hosts * hosts.saturating_sub(1),
        Some(Pairs::Ring) => 2 * hosts,
        Some(Pairs::List(list)) => 2 * list.len(),
    }
}

fn results(entry: &Entry<WorkloadTable>, paths: usize) -> usize {
    let table = &entry.table;
    match (table.hosts.len(), table.paths.len()) {
        (0, 0) => paths,
        (0, named) => named.min(paths),
        (hosts, _) => hosts,
    }
}
