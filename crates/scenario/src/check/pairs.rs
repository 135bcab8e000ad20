//! Checks pairs of existing hosts.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    diagnosis::Problem,
    document::{Document, Pairs, Spanned},
    link::Layer,
    names::PathName,
    nearest,
    path::{Path, PathEnd},
    resolve::Draft,
};

pub(super) fn check(document: &Document, problems: &mut Vec<Problem>) {
    let Some(pairs) = &document.pairs else { return };
    match pairs.get_ref() {
        Pairs::List(list) => list.iter().for_each(|pair| one(document, pair, &pairs.span(), problems)),
        _ if document.existing_hosts().len() < 2 => {
            let message = "`pairs` needs at least two existing hosts";
            let help = "existing hosts have `at`";
            problems.push(Problem::new(pairs.span(), message, "too few hosts").help(help));
        }
        _ => {}
    }
    let mut names: BTreeSet<String> = document.paths.names().map(str::to_owned).collect();
    for way in document.pair_ways() {
        if !names.insert(way.name()) {
            let message = format!("duplicate path `{}`", way.name());
            let help = "each pair becomes two paths, one per direction; remove the other path";
            problems.push(Problem::new(way.place.clone(), message, "repeated here").help(help));
        }
    }
}

fn one(
    document: &Document,
    pair: &[Spanned<String>],
    all: &std::ops::Range<usize>,
    problems: &mut Vec<Problem>,
) {
    let place = match pair {
        [first, .., last] => first.span().start..last.span().end,
        _ => all.clone(),
    };
    let [from, to] = pair else {
        let message = format!("a pair has two hosts, not {}", pair.len());
        problems.push(Problem::new(place, message, "this pair").help("write `[\"a\", \"b\"]`"));
        return;
    };
    let known = document.existing_hosts();
    for host in [from, to].into_iter().filter(|host| !known.contains(&host.as_str())) {
        let message = format!("`{host}` is not an existing host");
        let advice = nearest::advice(host, "hosts", known.clone());
        problems.push(Problem::new(host.span(), message, "cannot be paired").help(advice));
    }
    if from.get_ref() == to.get_ref() {
        let message = format!("`{to}` is paired with itself");
        problems.push(Problem::new(to.span(), message, "the same host"));
    }
}

/// The first pair is the baseline unless the document declares paths.
pub(super) fn paths(document: &Document, draft: &Draft) -> Vec<Path> {
    let written = !document.paths.0.is_empty();
    let ways = document.pair_ways();
    let existing = draft
        .lab
        .hosts
        .iter()
        .filter_map(|host| Some((host.name.as_str(), host.existing.as_ref()?.end(&host.name))));
    let ends: BTreeMap<&str, PathEnd> = existing.collect();
    let path = |(number, way): (usize, &crate::document::PairWay<'_>)| {
        let (from, to) = (ends.get(way.from)?.clone(), ends.get(way.to)?.clone());
        Some(Path {
            name: PathName::new(way.name()),
            about: String::new(),
            layers: vec![Layer::Network],
            devices: vec![from.device.clone(), to.device.clone()],
            from,
            to,
            baseline: number == 0 && !written,
        })
    };
    ways.iter().enumerate().filter_map(path).collect()
}
