//! Factors: values that mean something for what is varied, devices where there must be some, no two factors that set
//! the same thing, and none without effect.

mod fit;
mod multiples;
mod values;

use std::{collections::BTreeSet, ops::Range};

use toml::Spanned;

pub(crate) use fit::fit;
pub(super) use values::big_tcp;

use crate::{
    diagnosis::Problem,
    document::{Document, Entry, FactorTable, VaryWord},
    factor::{Factor, Level},
    names::{FactorName, PathName, WorkloadName},
};

/// The factors of the document.
pub(crate) fn factors(document: &Document) -> Result<Vec<Factor>, Vec<Problem>> {
    let mut problems = Vec::new();
    let factors = document.factors.iter().map(|entry| factor(entry, &mut problems)).collect();
    rivals(document, &mut problems);
    problems.extend(multiples::unknown(document));
    if problems.is_empty() { Ok(factors) } else { Err(problems) }
}

fn factor(entry: &Entry<FactorTable>, problems: &mut Vec<Problem>) -> Factor {
    let table = &entry.table;
    devices(entry, problems);
    Factor {
        name: FactorName::new(entry.name()),
        paths: table.paths.iter().map(|path| PathName::new(path.get_ref())).collect(),
        workloads: table.workloads.iter().map(|workload| WorkloadName::new(workload.get_ref())).collect(),
        devices: table.devices.iter().map(|device| device.get_ref().0.clone()).collect(),
        levels: levels(entry, problems),
    }
}

fn levels(entry: &Entry<FactorTable>, problems: &mut Vec<Problem>) -> Vec<Level> {
    let table = &entry.table;
    if table.of.is_some() || table.times.is_some() || table.most.is_some() {
        return multiples::levels(entry, problems);
    }
    let Some(values) = &table.values else {
        let problem = Problem::new(table.vary.span(), "`values` is missing", "in this table");
        problems.push(problem.help("add `values = [...]`"));
        return Vec::new();
    };
    too_few(entry, values.get_ref().len(), values.span(), problems);
    let (mut levels, mut seen) = (Vec::new(), BTreeSet::new());
    for value in values.get_ref() {
        let label = value.get_ref().0.0.clone();
        match values::setting(*table.vary.get_ref(), &label, value.span()) {
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
        problems.push(Problem::new(place, message, "nothing to compare").help("give it two or more"));
    }
}

fn twice(is_new: bool, label: &str, place: Range<usize>, problems: &mut Vec<Problem>) {
    if !is_new {
        let message = format!("the value `{label}` is given twice");
        problems.push(Problem::new(place, message, "once more here"));
    }
}

fn devices(entry: &Entry<FactorTable>, problems: &mut Vec<Problem>) {
    let (vary, devices) = (&entry.table.vary, &entry.table.devices);
    match (values::is_of_devices(*vary.get_ref()), devices.first()) {
        (true, None) => {
            let message = format!("the factor `{}` does not say which devices it is set on", entry.name());
            let help = "add `devices = [\"host:device\"]`";
            problems.push(Problem::new(vary.span(), message, "a setting of devices").help(help));
        }
        (false, Some(device)) => {
            let message = format!("the factor `{}` varies what is sent, not a device", entry.name());
            problems.push(Problem::new(device.span(), message, "no effect").help("take `devices` out"));
        }
        _ => {}
    }
    let mut seen = BTreeSet::new();
    for device in devices.iter().filter(|device| !seen.insert(&device.get_ref().0)) {
        let message = format!("the device `{}` is given twice", device.get_ref().0);
        problems.push(Problem::new(device.span(), message, "once more here"));
    }
}

/// Two factors that set one thing: the later one would hide the earlier.
fn rivals(document: &Document, problems: &mut Vec<Problem>) {
    let entries: Vec<&Entry<FactorTable>> = document.factors.iter().collect();
    for (index, entry) in entries.iter().enumerate() {
        let rival = entries[..index].iter().find(|other| same_thing(&other.table, &entry.table));
        if let Some(rival) = rival {
            let message = format!("the factors `{}` and `{}` set the same thing", rival.name(), entry.name());
            let help = "confine them to different devices, paths or workloads, or make them one";
            problems.push(Problem::new(entry.table.vary.span(), message, "set twice").help(help));
        }
    }
}

fn same_thing(one: &FactorTable, other: &FactorTable) -> bool {
    let (first, second) = (*one.vary.get_ref(), *other.vary.get_ref());
    if !values::overlap(first, second) {
        return false;
    }
    if values::is_of_devices(first) {
        let has = |device| other.devices.iter().any(|theirs| theirs.get_ref() == device);
        return one.devices.iter().any(|device| has(device.get_ref()));
    }
    meet(&one.paths, &other.paths) && meet(&one.workloads, &other.workloads)
}

/// Whether two confinements share anything; an empty one is no confinement.
fn meet(one: &[Spanned<String>], other: &[Spanned<String>]) -> bool {
    one.is_empty()
        || other.is_empty()
        || one.iter().any(|name| other.iter().any(|o| o.get_ref() == name.get_ref()))
}

impl VaryWord {
    /// Every word, for messages.
    fn word(self) -> &'static str {
        match self {
            Self::Offload => "offload",
            Self::Tso => "tso",
            Self::Gso => "gso",
            Self::Gro => "gro",
            Self::Checksum => "checksum",
            Self::Mtu => "mtu",
            Self::BigTcp => "big-tcp",
            Self::Queues => "queues",
            Self::Streams => "streams",
            Self::Direction => "direction",
            Self::Message => "message",
            Self::Congestion => "congestion",
            Self::Placement => "placement",
            Self::Mode => "mode",
            Self::Rate => "rate",
            Self::Waiting => "waiting",
            Self::Schedule => "schedule",
        }
    }
}
