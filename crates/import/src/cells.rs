//! Groups tests into results ("cells"), and names results and paths. This is independent of formats and measurements.
//!
//! A result's identity depends only on the test itself, so importing the same or a similar log again produces the same
//! results. Settings that only some tests state become factors at the end.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    ops::RangeInclusive,
    sync::Arc,
};

use samples::{ImportedKind, ImportedSettings, PathRecord, ResultRecord, WorkloadSource};
use units::Bytes;
use workload::{Direction, Measurement, Quantity, Transport};

use crate::{
    imported_test::{End, Evidence, ImportedTest, Part},
    places,
    rate_basis::{Extent, RateBasis},
    title::{self, Settings, slug},
};

pub(crate) const MOST_CELLS: usize = 20_000;
const COUNTED: &str = "counted";
const PART: &str = "part";
const UNKNOWN: &str = "unknown";
/// iperf3's default TCP write size (DEFAULT_TCP_BLKSIZE).
const USUAL_MESSAGE: Bytes = Bytes(128 << 10);

#[derive(Debug, Default)]
pub(crate) struct Cells {
    together: bool,
    paths: Vec<PathRecord>,
    known_paths: HashSet<String>,
    cells: Vec<Cell>,
    by_name: HashMap<String, Vec<Member>>,
    ids: HashSet<String>,
    quantities: HashMap<String, Quantity>,
    pub(crate) unexplained: Vec<(String, String)>,
    first_in: HashMap<String, Context>,
    latest: (Vec<String>, Settings),
    /// The identity and result of the previous test, because consecutive tests often belong to the same
    /// result.
    latest_cell: Option<(Identity, usize)>,
}

#[derive(Debug, PartialEq)]
struct Identity {
    file: String,
    title: Vec<String>,
    settings: ImportedSettings,
    hosts: Option<(String, String)>,
    levels: BTreeMap<String, String>,
    counted: Option<RateBasis>,
    quantity: Quantity,
    observed: BTreeMap<&'static str, String>,
    part: Part,
}

#[derive(Debug)]
struct Member {
    part: Part,
    lines: RangeInclusive<u64>,
    at: usize,
    extent: Option<Extent>,
}

#[derive(Debug)]
struct Cell {
    record: ResultRecord,
    settings: BTreeMap<String, String>,
    part: Option<Arc<str>>,
    trials: u32,
}

#[derive(Debug, Clone)]
struct Context {
    file: String,
    section: String,
    observed: BTreeMap<&'static str, String>,
}

impl Cells {
    pub(crate) fn new(together: bool) -> Self {
        Self { together, ..Self::default() }
    }

    /// Returns the test's result and the number of its earlier trials, or `None` if there are too many
    /// results.
    pub(crate) fn place(&mut self, found: &ImportedTest) -> Option<(String, u32)> {
        let test = Identity::of(found);
        let at = match &self.latest_cell {
            Some((latest, at)) if *latest == test && test.part.evidence == Evidence::Repeated => *at,
            _ => {
                let at = self.cell(&test, found)?;
                self.latest_cell = Some((test, at));
                at
            }
        };
        let cell = &mut self.cells[at];
        cell.trials += 1;
        Some((cell.record.id.clone(), cell.trials - 1))
    }

    fn cell(&mut self, test: &Identity, found: &ImportedTest) -> Option<usize> {
        let title = self.settings_of(&test.title);
        let (from, to) = title.path.or_else(|| test.hosts.clone()).unwrap_or_default();
        let path = self.path(&from, &to);
        let mut levels = title.levels;
        levels.extend(test.levels.clone());
        if let Some(unusual) = test.counted.filter(|counted| *counted != RateBasis::Received) {
            levels.insert(COUNTED.to_owned(), unusual.word().to_owned());
        }
        let workload = self.workload(title.workload, test);
        let mut settings = settings(&test.settings);
        let mut words: Vec<String> =
            levels.iter().map(|(factor, level)| slug(&format!("{factor}={level}"))).collect();
        words.extend(unusual_settings(&test.settings, &settings));
        settings.extend(test.counted.map(|counted| (COUNTED.to_owned(), counted.word().to_owned())));
        self.context(&format!("{path}/{workload}"), test, &title.section, &mut words, &mut settings);
        let group = self.free_name(&format!("{path}/{}", slug(&workload)), words, &test.settings);
        if let Some(at) = self.known(&group, test, found) {
            return Some(at);
        }
        if self.cells.len() >= MOST_CELLS {
            return None;
        }
        let (id, part) = self.name(&group, test, &found.lines);
        if id != group {
            self.ids.insert(id.clone());
        }
        let record = ResultRecord {
            id,
            path,
            workload,
            levels,
            sent: WorkloadSource::Imported(test.settings.clone()),
            placement: UNKNOWN.to_owned(),
            baseline: false,
        };
        let (at, extent) = (self.cells.len(), Extent::of(&found.measurement));
        let member = Member { part: test.part.clone(), lines: found.lines.clone(), at, extent };
        self.by_name.entry(group).or_default().push(member);
        self.cells.push(Cell { record, settings, part, trials: 0 });
        Some(at)
    }

    /// Finds the result that this test is another trial of. There must be evidence: a loop, numbered runs, or
    /// adjacent tests with matching values.
    fn known(&mut self, group: &str, test: &Identity, found: &ImportedTest) -> Option<usize> {
        let members = self.by_name.get_mut(group)?;
        let same = |member: &Member| self.together || member.part.start == test.part.start;
        let extent = Extent::of(&found.measurement);
        let agrees = |member: &Member| match test.part.evidence {
            Evidence::Repeated => true,
            Evidence::Varies => self.together,
            Evidence::Adjacent => {
                self.together || member.extent.zip(extent).is_none_or(|(known, new)| known.agrees_with(new))
            }
        };
        if let Some(member) = members.iter_mut().find(|member| same(member) && agrees(member)) {
            member.extent = member.extent.zip(extent).map(|(known, new)| known.with(new));
            return Some(member.at);
        }
        let differing =
            members.iter().find(|member| same(member) && test.part.evidence == Evidence::Adjacent);
        if let Some(member) = differing {
            let (file, place) = (&found.file, places::lines(&found.lines));
            let values = member.extent.zip(extent).map(|(known, new)| format!(" ({known} and {new})"));
            self.unexplained.push((
                self.cells[member.at].record.id.clone(),
                format!(
                    "{file}: {place}: the settings equal those of {} but the values differ by more than the tests vary \
                     within{}, so these are separate results; --together makes them trials of one",
                    places::lines(&member.lines),
                    values.unwrap_or_default()
                ),
            ));
        }
        None
    }

    /// Returns the name of a new result, and the part of the file as a factor level. This is the text above
    /// the test, or its lines.
    fn name(&self, group: &str, test: &Identity, lines: &RangeInclusive<u64>) -> (String, Option<Arc<str>>) {
        let members = self.by_name.get(group).map_or(&[][..], Vec::as_slice);
        let label = test.part.label.clone();
        let label =
            label.filter(|label| members.iter().all(|member| member.part.label.as_ref() != Some(label)));
        if members.is_empty() {
            return (group.to_owned(), label);
        }
        let separator = if group.matches('/').count() > 1 { "," } else { "/" };
        let named = |level: &str| format!("{group}{separator}{}", slug(&format!("{PART}={level}")));
        let level = label.filter(|label| !self.ids.contains(&named(label)));
        let level = level.unwrap_or_else(|| places::lines(lines).into());
        (named(&level), Some(level))
    }

    /// Returns the workload's name. Different quantities under one heading are different workloads.
    fn workload(&mut self, heading: Option<String>, test: &Identity) -> String {
        let usual = usual_workload(&test.settings);
        let mut name = heading.unwrap_or_else(|| usual.to_owned());
        let words = [usual.to_owned(), format!("{:?}", test.quantity).to_lowercase()];
        for word in words {
            if *self.quantities.entry(name.clone()).or_insert(test.quantity) == test.quantity {
                break;
            }
            name = format!("{name}, {word}");
        }
        name
    }

    pub(crate) fn most_trials(&self) -> u32 {
        self.cells.iter().map(|cell| cell.trials).max().unwrap_or(0)
    }

    /// Returns the paths and results for the run header. Settings that vary become factors, and `off` sorts
    /// before `on`.
    pub(crate) fn records(&self) -> (Vec<PathRecord>, Vec<ResultRecord>) {
        let varying = self.varying();
        let mut records: Vec<ResultRecord> =
            self.cells.iter().map(|cell| cell.record_with(&varying)).collect();
        // Results with the same settings are distinguished by the part of the file that they come from.
        for member in self.by_name.values().filter(|members| members.len() > 1).flatten() {
            let part = self.cells[member.at].part.as_deref();
            let level = || part.map_or_else(|| places::lines(&member.lines), str::to_owned);
            records[member.at].levels.entry(PART.to_owned()).or_insert_with(level);
        }
        let switches = switches(&records);
        let paths: HashMap<&str, usize> = self.paths.iter().map(|path| path.name.as_str()).zip(0..).collect();
        let place = |path: &str| paths.get(path).copied();
        let mut workloads: HashMap<String, usize> = HashMap::new();
        for (record, at) in records.iter().zip(0..) {
            workloads.entry(record.workload.clone()).or_insert(at);
        }
        let first = |workload: &str| workloads.get(workload).copied();
        records.sort_by_cached_key(|record| {
            let levels: Vec<Option<String>> =
                switches.iter().map(|factor| record.levels.get(factor).cloned()).collect();
            (place(&record.path), first(&record.workload), levels)
        });
        let mut with_baseline: BTreeSet<String> = BTreeSet::new();
        for record in &mut records {
            let on_first_path = place(&record.path) == Some(0);
            record.baseline = on_first_path && with_baseline.insert(record.workload.clone());
        }
        (self.paths.clone(), records)
    }

    fn settings_of(&mut self, title: &[String]) -> Settings {
        if self.latest.0 != title {
            self.latest = (title.to_vec(), title::settings(title));
        }
        self.latest.1.clone()
    }

    fn path(&mut self, from: &str, to: &str) -> String {
        let name =
            if from.is_empty() { UNKNOWN.to_owned() } else { format!("{}-to-{}", slug(from), slug(to)) };
        if self.known_paths.insert(name.clone()) {
            let about = if from.is_empty() { "not imported".to_owned() } else { format!("{from} to {to}") };
            self.paths.push(PathRecord {
                name: name.clone(),
                about,
                from: from.to_owned(),
                to: to.to_owned(),
                layers: Vec::new(),
                devices: Vec::new(),
                baseline: self.paths.is_empty(),
            });
        }
        name
    }

    /// Adds words for the differences from the first test with the same settings: the file, section or
    /// congestion control.
    fn context(
        &mut self,
        stem: &str,
        test: &Identity,
        section: &str,
        words: &mut Vec<String>,
        settings: &mut BTreeMap<String, String>,
    ) {
        let mut observed = test.observed.clone();
        observed.extend(test.settings.congestion.clone().map(|name| ("congestion", name)));
        let here = Context { file: stem_of(&test.file).to_owned(), section: section.to_owned(), observed };
        let base = format!("{stem}/{}", words.join(","));
        let first = self.first_in.entry(base).or_insert_with(|| here.clone());
        if first.file != here.file && !self.together {
            words.push(slug(&format!("file={}", here.file)));
        }
        if first.section != here.section {
            words.push(slug(&format!("section={}", here.section)));
        }
        for (name, value) in &here.observed {
            if first.observed.entry(name).or_insert_with(|| value.clone()) != value {
                words.push(slug(&format!("{name}={value}")));
            }
        }
        settings.extend([("file".to_owned(), here.file), ("section".to_owned(), here.section)]);
        settings.extend(here.observed.into_iter().map(|(name, value)| (name.to_owned(), value)));
    }

    fn free_name(&self, stem: &str, words: Vec<String>, imported: &ImportedSettings) -> String {
        let joined = |words: &[String]| {
            if words.is_empty() { stem.to_owned() } else { format!("{stem}/{}", words.join(",")) }
        };
        let name = joined(&words);
        let differs = |members: &Vec<Member>| match &self.cells[members[0].at].record.sent {
            WorkloadSource::Imported(other) => {
                (other.kind, family(other)) != (imported.kind, family(imported))
            }
            WorkloadSource::Load(_) => true,
        };
        if self.by_name.get(&name).is_some_and(differs) {
            let mut words = words;
            words.push(slug(&format!("tool={}", family(imported))));
            return joined(&words);
        }
        name
    }

    /// Returns the settings that differ between results. The file and section are included only if they
    /// distinguish results with the same settings.
    fn varying(&self) -> BTreeSet<&str> {
        let mut values: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let in_name = |word: &str| self.cells.iter().any(|cell| cell.record.id.contains(word));
        let (files, sections) = (in_name("file="), in_name("section="));
        for cell in &self.cells {
            for (setting, value) in &cell.settings {
                let counts = match setting.as_str() {
                    "file" => files,
                    "section" => sections,
                    _ => true,
                };
                if counts {
                    values.entry(setting).or_default().insert(value);
                }
            }
        }
        values.into_iter().filter(|(_, values)| values.len() > 1).map(|(setting, _)| setting).collect()
    }
}

impl Identity {
    fn of(found: &ImportedTest) -> Self {
        Self {
            file: found.file.clone(),
            title: found.title.clone(),
            settings: found.settings.clone(),
            hosts: hosts(found),
            levels: found.levels.clone(),
            counted: RateBasis::of(&found.measurement),
            quantity: quantity(&found.measurement),
            observed: found.observed.clone(),
            part: found.part.clone(),
        }
    }
}

impl Cell {
    fn record_with(&self, varying: &BTreeSet<&str>) -> ResultRecord {
        let mut record = self.record.clone();
        for (setting, value) in self.settings.iter().filter(|(setting, _)| varying.contains(setting.as_str()))
        {
            record.levels.entry(setting.clone()).or_insert_with(|| value.clone());
        }
        record
    }
}

fn stem_of(file: &str) -> &str {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.split_once('.').map_or(name, |(stem, _)| if stem.is_empty() { file } else { stem })
}

fn switches(records: &[ResultRecord]) -> Vec<String> {
    let mut levels: BTreeMap<&String, bool> = BTreeMap::new();
    for (factor, level) in records.iter().flat_map(|record| &record.levels) {
        *levels.entry(factor).or_insert(true) &= level == "on" || level == "off";
    }
    levels.into_iter().filter(|(_, switch)| *switch).map(|(factor, _)| factor.clone()).collect()
}

fn hosts(found: &ImportedTest) -> Option<(String, String)> {
    let role = |role: &str| role.to_owned();
    found.hosts.clone().or_else(|| match (found.end, found.peer.clone()) {
        (Some(End::Client), Some(peer)) => Some((role("client"), peer)),
        (Some(End::Server), Some(peer)) => Some((peer, role("server"))),
        _ => None,
    })
}

fn usual_workload(imported: &ImportedSettings) -> &'static str {
    let under_load = imported.tool.ends_with(" under-load");
    match (imported.kind, imported.transport) {
        (ImportedKind::PingPong, Some(Transport::Tcp)) if under_load => "tcp-under-load",
        (ImportedKind::PingPong, Some(Transport::Udp)) if under_load => "udp-under-load",
        (ImportedKind::PingPong, None) if under_load => "under-load",
        (ImportedKind::Stream, Some(Transport::Tcp)) => "tcp-stream",
        (ImportedKind::Stream, Some(Transport::Udp)) => "udp-stream",
        (ImportedKind::Stream, None) => "stream",
        (ImportedKind::PingPong, Some(Transport::Tcp)) => "tcp-ping-pong",
        (ImportedKind::PingPong, Some(Transport::Udp)) => "udp-ping-pong",
        (ImportedKind::PingPong, None) => "ping-pong",
        (ImportedKind::Connect, _) => "connections",
        (ImportedKind::Other, _) => "reported",
    }
}

fn quantity(measurement: &Measurement) -> Quantity {
    match measurement {
        Measurement::Stream(_) => Quantity::BitRate,
        Measurement::PingPong(_) => Quantity::Time,
        Measurement::Reported(data) => data.values.first().map_or(Quantity::Plain, |value| value.quantity),
        _ => Quantity::Plain,
    }
}

fn settings(imported: &ImportedSettings) -> BTreeMap<String, String> {
    let direction = imported.direction.map(|direction| match direction {
        Direction::Forward => "forward",
        Direction::Reverse => "reverse",
        Direction::Both => "both",
    });
    let transport = imported.transport.map(|transport| match transport {
        Transport::Tcp => "tcp",
        Transport::Udp => "udp",
    });
    [
        ("congestion", imported.congestion.clone()),
        ("direction", direction.map(str::to_owned)),
        ("message", imported.message.map(|size| size.to_string())),
        ("rate", imported.rate.map(|rate| rate.to_string())),
        ("streams", imported.streams.map(|streams| streams.to_string())),
        ("transport", transport.map(str::to_owned)),
    ]
    .into_iter()
    .filter_map(|(setting, value)| Some((setting.to_owned(), value?)))
    .chain(imported.options.clone())
    .collect()
}

/// Returns the settings for the name of the result. Defaults are left out, so that a log that does not print
/// them belongs to the same results.
fn unusual_settings(imported: &ImportedSettings, settings: &BTreeMap<String, String>) -> Vec<String> {
    let datagrams = |size: Bytes| (1400..=1500).contains(&size.0) || size.0 == 8192;
    let message = match imported.transport {
        Some(Transport::Udp) => imported.message.is_none_or(datagrams),
        _ => imported.message.is_none_or(|size| size == USUAL_MESSAGE),
    };
    let usual = |setting: &str| match setting {
        "congestion" => true,
        "direction" => imported.direction.is_none_or(|direction| direction == Direction::Forward),
        "message" => message,
        "rate" => imported.rate.is_none(),
        "streams" => imported.streams.is_none_or(|streams| streams <= 1),
        "transport" => imported.transport.is_none_or(|transport| transport == Transport::Tcp),
        _ => false,
    };
    let word = |(setting, value): (&String, &String)| slug(&format!("{setting}={value}"));
    settings.iter().filter(|(setting, _)| !usual(setting)).map(word).collect()
}

/// The tool's name without its version, but with its mode.
fn family(imported: &ImportedSettings) -> String {
    let mut words = imported.tool.split_whitespace();
    let first = words.next().unwrap_or_default();
    match words.last() {
        Some("under-load") => format!("{first} under-load"),
        _ => first.to_owned(),
    }
}
