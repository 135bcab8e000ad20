//! Checks that the ends of each path reach each other through exactly the declared layers.

use std::ops::Range;

use super::{ends, pairs};
use crate::{
    diagnosis::Problem,
    document::{Document, Entry, PathTable, Spanned},
    link::Layer,
    names::{DeviceRef, PathName},
    packet_walk::{Stop, StopReason, Trip, World},
    path::{Path, PathEnd},
    resolve::{Draft, Places},
};

pub(crate) fn paths(document: &Document, draft: &Draft) -> Result<Vec<Path>, Vec<Problem>> {
    let world = World::new(&draft.lab);
    let (mut problems, is_only) = (baseline(document), document.paths.0.len() == 1);
    let mut paths = Vec::new();
    for entry in document.paths.iter() {
        match path(entry, draft, &world) {
            Ok(path) => {
                let baseline = entry.table.baseline.as_ref().map_or(is_only, |mark| **mark);
                paths.push(Path { baseline, ..path });
            }
            Err(more) => problems.extend(more),
        }
    }
    paths.extend(pairs::paths(document, draft));
    if problems.is_empty() { Ok(paths) } else { Err(problems) }
}

fn baseline(document: &Document) -> Vec<Problem> {
    let marks =
        document.paths.iter().filter_map(|entry| Some((entry.name(), entry.table.baseline.as_ref()?)));
    let mut marks = marks.filter(|(_, mark)| ***mark);
    let Some((first, _)) = marks.next() else {
        let is_marked = document.paths.iter().any(|path| path.table.baseline.is_some());
        if (document.paths.0.len() < 2 && !is_marked) || !document.broken.names.is_empty() {
            return Vec::new();
        }
        let place = document.paths.iter().next().map_or(0..0, |entry| entry.name.span());
        let help = "add `baseline = true` to the path that others are compared with";
        return vec![Problem::new(place, "no path is marked as the baseline", "first path").help(help)];
    };
    let others = marks.map(|(name, mark)| {
        let message = format!("`{name}` is a second baseline, after `{first}`");
        Problem::new(mark.span(), message, "second baseline").help("set `baseline = true` on one path only")
    });
    others.collect()
}

fn path(entry: &Entry<PathTable>, draft: &Draft, world: &World<'_>) -> Result<Path, Vec<Problem>> {
    let table = &entry.table;
    let (from, to) = match (ends::resolve(&table.from, &draft.lab), ends::resolve(&table.to, &draft.lab)) {
        (Ok(from), Ok(to)) => (from, to),
        (from, to) => return Err(from.err().into_iter().chain(to.err()).collect()),
    };
    if from.host == to.host {
        let message = format!("both ends of `{}` are on `{}`", entry.name(), to.host);
        let help = "a path connects two hosts; traffic within a host uses none of its devices";
        return Err(vec![Problem::new(table.to.span(), message, "the same host").help(help)]);
    }
    let is_own = |end: &PathEnd| draft.lab.existing(&end.host).is_some_and(|it| it.end(&end.host) == *end);
    let trip = match [&from, &to].map(is_own) {
        [true, true] => Trip::between_existing(&from.device, &to.device),
        [false, false] => {
            let places = &draft.places;
            both_ways(world, &from, &to)
                .map_err(|stop| vec![unreachable(entry, (&from, &to), &stop, (world, places))])?
        }
        [from_exists, _] => {
            let (existing, lab_end) = if from_exists { (&from, &to) } else { (&to, &from) };
            return Err(vec![unconnected(table, existing, lab_end)]);
        }
    };
    let problems = declared(entry, &trip.layers);
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(Path {
        name: PathName::new(entry.name()),
        about: table.about.clone(),
        from,
        to,
        layers: trip.layers,
        devices: trip.devices,
        baseline: false,
    })
}

fn unconnected(table: &PathTable, existing: &PathEnd, lab_end: &PathEnd) -> Problem {
    let message = format!(
        "no connection between the lab device `{}` and the existing host `{}`",
        lab_end.device, existing.host
    );
    let help = "use two hosts with `at`, or two devices created on such hosts; for this \
                machine, add a host with `at = \"local\"`";
    Problem::new(table.to.span(), message, "not connected").help(help)
}

/// The flag in the error is true if only the reply fails.
fn both_ways(world: &World<'_>, from: &PathEnd, to: &PathEnd) -> Result<Trip, (bool, Stop)> {
    let trip = world.there(from, to).map_err(|stop| (false, stop))?;
    world.back(from, to, &trip).map_err(|stop| (true, stop))?;
    Ok(trip)
}

fn unreachable(
    entry: &Entry<PathTable>,
    (from, to): (&PathEnd, &PathEnd),
    (back, stop): &(bool, Stop),
    (world, places): (&World<'_>, &Places),
) -> Problem {
    let end = |end: &PathEnd| format!("`{}` ({})", end.host, end.address);
    let message = match back {
        false => format!("`{}`: {} cannot be reached from {}", entry.name(), end(to), end(from)),
        true => format!(
            "`{}`: {} can be reached from {}, but replies do not return",
            entry.name(),
            end(to),
            end(from)
        ),
    };
    let (near, far) = if *back { (to, from) } else { (from, to) };
    if let Some((place, help)) = in_another_network(stop, (near, far), world, places) {
        return Problem::new(place, message, "in another network").help(help);
    }
    let place = if *back { &entry.table.to } else { &entry.table.from };
    let which = if *back { "a reply" } else { "a packet" };
    Problem::new(place.span(), message, "unreachable").help(format!("following {which}, {stop}"))
}

fn in_another_network(
    stop: &Stop,
    (near, far): (&PathEnd, &PathEnd),
    world: &World<'_>,
    places: &Places,
) -> Option<(Range<usize>, String)> {
    let is_lost = stop.host == near.host && stop.reason == StopReason::NoRoute(far.address);
    if !is_lost || !world.is_one_segment(&near.device, &far.device) {
        return None;
    }
    let assigned = |device: &DeviceRef| places.addresses.iter().find(|(at, ..)| at == device);
    let ((_, own, _), (_, theirs, place)) = (assigned(&near.device)?, assigned(&far.device)?);
    let free = own.hosts().find(|host| places.addresses.iter().all(|(_, taken, _)| taken.addr() != *host))?;
    let help = format!(
        "`{}` has {own}, and `{}`, on the same network segment, has {theirs}: use an address in {}, e.g. `{free}/{}`",
        near.device,
        far.device,
        own.trunc(),
        own.prefix_len()
    );
    Some((place.clone(), help))
}

fn declared(entry: &Entry<PathTable>, passed: &[Layer]) -> Vec<Problem> {
    let Some(written) = &entry.table.layers else { return Vec::new() };
    let declared: Vec<Layer> = written.iter().map(|layer| **layer).collect();
    let right: Vec<String> = passed.iter().map(|layer| format!("\"{layer}\"")).collect();
    let help = format!("write `layers = [{}]`, or change the lab", right.join(", "));
    let place = |word: &Spanned<Layer>| word.span();
    let twice = (1..declared.len()).filter(|&at| declared[..at].contains(&declared[at])).map(|at| {
        let message = format!("duplicate layer `{}`", declared[at]);
        Problem::new(place(&written.get_ref()[at]), message, "repeated here").help(help.clone())
    });
    let extra = (0..declared.len()).filter(|&at| !passed.contains(&declared[at])).map(|at| {
        let message =
            format!("packets on `{}` do not pass through the layer `{}`", entry.name(), declared[at]);
        Problem::new(place(&written.get_ref()[at]), message, "not on this path").help(help.clone())
    });
    let missing = passed.iter().filter(|layer| !declared.contains(layer)).map(|layer| {
        let message = format!("packets on `{}` pass through the undeclared layer `{layer}`", entry.name());
        Problem::new(written.span(), message, "incomplete").help(help.clone())
    });
    twice.chain(extra).chain(missing).collect()
}
