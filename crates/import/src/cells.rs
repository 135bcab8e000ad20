//! Groups tests into cells, and names cells and paths, for any format and measurement.
//!
//! A cell's identity depends only on the test itself, so importing a similar log again gives the same cells. At the
//! end, settings that only some tests state become factors.

mod identity;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    ops::RangeInclusive,
    sync::Arc,
};

use samples::{ImportedSettings, PathRecord, ResultRecord, WorkloadSource};
use workload::Quantity;

use self::identity::{Identity, differs, family, settings, stem_of, unusual_settings, usual_workload};
use crate::{
    imported_test::{Evidence, ImportedTest, Part},
    places,
    rate_basis::{Extent, RateBasis},
    title::{self, Settings, slug},
};

pub(crate) const MOST_CELLS: usize = 20_000;
const COUNTED: &str = "counted";
const PART: &str = "part";
const UNKNOWN: &str = "unknown";

#[derive(Debug, Default)]
pub(crate) struct Cells {
    together: bool,
    paths: Vec<PathRecord>,
    known_paths: HashSet<String>,
    cells: Vec<Cell>,
    /// Results with equal settings, by the name of the first one.
    by_name: HashMap<String, Vec<Member>>,
    ids: HashSet<String>,
    quantities: HashMap<String, Quantity>,
    pub(crate) unexplained: Vec<(String, String)>,
    first_in: HashMap<String, Context>,
    latest: (Vec<String>, Settings),
    latest_cell: Option<(Identity, usize)>,
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

    /// Returns the test's cell and the cell's number of earlier trials, or `None` if there are too many cells.
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
        self.cells.push(Cell { record, settings, part, trials: 0 });
        Some(self.add_member(group, found))
    }

    fn add_member(&mut self, group: String, found: &ImportedTest) -> usize {
        let (at, extent) = (self.cells.len() - 1, Extent::of(&found.measurement));
        let member = Member { part: found.part.clone(), lines: found.lines.clone(), at, extent };
        self.by_name.entry(group).or_default().push(member);
        at
    }

    /// Finds the result to which this test adds a trial. The evidence is a loop, numbered runs, or adjacent tests with
    /// matching values.
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
                    "{file}: {place}: same settings as {}, but the values differ by more than the variation within the \
                     tests{}, so these are separate results; use --together to treat them as trials of one result",
                    places::lines(&member.lines),
                    values.unwrap_or_default()
                ),
            ));
        }
        None
    }

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

    /// Returns the paths and cells for the run header. Varying settings become factors. `off` sorts before `on`.
    pub(crate) fn records(&self) -> (Vec<PathRecord>, Vec<ResultRecord>) {
        let varying = self.varying();
        let mut records: Vec<ResultRecord> =
            self.cells.iter().map(|cell| cell.record_with(&varying)).collect();
        // Distinguish results with the same settings by their part of the file.
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

    /// Names the differences from the first test with equal settings: the file, section or congestion control.
    fn context(
        &mut self,
        stem: &str,
        test: &Identity,
        section: &str,
        words: &mut Vec<String>,
        settings: &mut BTreeMap<String, String>,
    ) {
        let observed = test.all_observed();
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
        let differs = |members: &Vec<Member>| differs(&self.cells[members[0].at].record.sent, imported);
        if self.by_name.get(&name).is_some_and(differs) {
            let mut words = words;
            words.push(slug(&format!("tool={}", family(imported))));
            return joined(&words);
        }
        name
    }

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

fn switches(records: &[ResultRecord]) -> Vec<String> {
    let mut levels: BTreeMap<&String, bool> = BTreeMap::new();
    for (factor, level) in records.iter().flat_map(|record| &record.levels) {
        *levels.entry(factor).or_insert(true) &= level == "on" || level == "off";
    }
    levels.into_iter().filter(|(_, switch)| *switch).map(|(factor, _)| factor.clone()).collect()
}
