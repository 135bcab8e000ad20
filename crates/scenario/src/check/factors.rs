//! Checks the values and devices of factors.

mod fit;
mod multiples;
mod vary;
mod workload_words;

use std::{collections::BTreeSet, ops::Range};

pub(crate) use fit::fit;
use vary::Vary;
pub(crate) use vary::{device_words, vary_words};

use crate::{
    diagnosis::Problem,
    document::{Document, Entry, FactorTable, Spanned},
    factor::{Factor, Level, Setting},
    family::Family,
    names::{FactorName, PathName, WorkloadName},
};

const FAMILY: &str = "family";

struct WrittenFactor<'d> {
    entry: &'d Entry<FactorTable>,
    vary: Vary,
    factor: Factor,
}

pub(crate) fn factors(document: &Document) -> Result<Vec<Factor>, Vec<Problem>> {
    let mut problems = Vec::new();
    let read = |entry| written(entry, &mut problems);
    let factors: Vec<WrittenFactor<'_>> = document.factors.iter().filter_map(read).collect();
    rivals(&factors, &mut problems);
    problems.extend(multiples::unknown(document, &factors));
    problems.extend(factors.iter().filter_map(|one| named_family(document, one.entry)));
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(factors.into_iter().map(|one| one.factor).chain(family(document)).collect())
}

fn family(document: &Document) -> Option<Factor> {
    let families = document.families();
    let level =
        |family: &Family| Level { label: family.word().to_owned(), setting: Setting::Family(*family) };
    let levels: Vec<Level> = families.iter().map(level).collect();
    let (name, devices) = (FactorName::new(FAMILY), Vec::new());
    (levels.len() > 1).then(|| Factor { name, paths: Vec::new(), workloads: Vec::new(), devices, levels })
}

fn named_family(document: &Document, entry: &Entry<FactorTable>) -> Option<Problem> {
    let _key = document.family.as_ref().filter(|_| entry.name() == FAMILY)?;
    let problem =
        Problem::new(entry.name.span(), "the key `family` already creates a factor with this name", "taken");
    Some(problem.help("choose another name"))
}

fn written<'d>(entry: &'d Entry<FactorTable>, problems: &mut Vec<Problem>) -> Option<WrittenFactor<'d>> {
    let table = &entry.table;
    let vary = Vary::read(&table.vary).map_err(|problem| problems.push(problem)).ok()?;
    devices(entry, vary, problems);
    let factor = Factor {
        name: FactorName::new(entry.name()),
        paths: table.paths.iter().map(PathName::new).collect(),
        workloads: table.workloads.iter().map(WorkloadName::new).collect(),
        devices: table.devices.iter().map(|device| device.0.clone()).collect(),
        levels: levels(entry, vary, problems),
    };
    Some(WrittenFactor { entry, vary, factor })
}

fn levels(entry: &Entry<FactorTable>, vary: Vary, problems: &mut Vec<Problem>) -> Vec<Level> {
    let table = &entry.table;
    if table.of.is_some() || table.times.is_some() || table.most.is_some() {
        return multiples::levels(entry, vary, problems);
    }
    let Some(values) = &table.values else {
        let problem = Problem::new(table.vary.span(), "`values` is missing", "in this table");
        problems.push(problem.help("add `values = [...]`"));
        return Vec::new();
    };
    too_few(entry, values.len(), values.span(), problems);
    let (mut levels, mut seen) = (Vec::new(), BTreeSet::new());
    for value in &**values {
        let label = value.0.0.clone();
        match vary.setting(&label, value.span()) {
            Ok(setting) => levels.push(Level { label: label.clone(), setting }),
            Err(problem) => problems.push(problem),
        }
        twice(seen.insert(label.clone()), &label, value.span(), problems);
    }
    levels
}

fn too_few(entry: &Entry<FactorTable>, values: usize, place: Range<usize>, problems: &mut Vec<Problem>) {
    if values < 2 {
        let message = format!("the factor `{}` has fewer than two values", entry.name());
        problems.push(Problem::new(place, message, "nothing to compare").help("add at least one more value"));
    }
}

fn twice(is_new: bool, label: &str, place: Range<usize>, problems: &mut Vec<Problem>) {
    if !is_new {
        let message = format!("duplicate value `{label}`");
        problems.push(Problem::new(place, message, "repeated here"));
    }
}

fn devices(entry: &Entry<FactorTable>, vary: Vary, problems: &mut Vec<Problem>) {
    let (place, devices) = (entry.table.vary.span(), &entry.table.devices);
    match (vary, devices.first()) {
        (Vary::Devices(..), None) => {
            let message = format!("the factor `{}` has no devices", entry.name());
            let help = "add `devices = [\"host:device\"]`";
            problems.push(Problem::new(place, message, "a device setting").help(help));
        }
        (Vary::Workload(_), Some(device)) => {
            let message = format!("the factor `{}` varies the workload, not a device", entry.name());
            problems.push(Problem::new(device.span(), message, "no effect").help("remove `devices`"));
        }
        (Vary::Devices(..), Some(_)) | (Vary::Workload(_), None) => {}
    }
    let mut seen = BTreeSet::new();
    for device in devices.iter().filter(|device| !seen.insert(&device.0)) {
        let message = format!("duplicate device `{}`", device.0);
        problems.push(Problem::new(device.span(), message, "repeated here"));
    }
}

/// Rejects factors that vary the same setting, because the later factor would override the earlier one.
fn rivals(factors: &[WrittenFactor<'_>], problems: &mut Vec<Problem>) {
    for (index, one) in factors.iter().enumerate() {
        if let Some(rival) = factors[..index].iter().find(|other| same_thing(other, one)) {
            let (rival, name) = (rival.entry.name(), one.entry.name());
            let message = format!("the factors `{rival}` and `{name}` vary the same setting");
            let help = "restrict them to different devices, paths or workloads, or merge them";
            problems.push(Problem::new(one.entry.table.vary.span(), message, "set twice").help(help));
        }
    }
}

fn same_thing(one: &WrittenFactor<'_>, other: &WrittenFactor<'_>) -> bool {
    let (Some(first), Some(second)) = (one.factor.levels.first(), other.factor.levels.first()) else {
        return false;
    };
    match (one.vary, &first.setting, other.vary, &second.setting) {
        (
            Vary::Devices(kind, _),
            Setting::Devices(first),
            Vary::Devices(same, _),
            Setting::Devices(second),
        ) => {
            let shares = one.factor.devices.iter().any(|device| other.factor.devices.contains(device));
            kind == same && kind.meet(first, second) && shares
        }
        _ => {
            let (table, theirs) = (&one.entry.table, &other.entry.table);
            let meet = meet(&table.paths, &theirs.paths) && meet(&table.workloads, &theirs.workloads);
            one.vary.word() == other.vary.word() && meet
        }
    }
}

fn meet(one: &[Spanned<String>], other: &[Spanned<String>]) -> bool {
    one.is_empty()
        || other.is_empty()
        || one.iter().any(|name| other.iter().any(|o| o.get_ref() == name.get_ref()))
}
