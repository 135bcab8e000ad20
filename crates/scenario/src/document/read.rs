//! Reads TOML text into a [`Document`]. Each table is read separately, so that one mistake does not hide the next.

use std::ops::Range;

use serde::{Deserialize, de::DeserializeOwned};
use toml::de::{DeTable, DeValue, Error, ValueDeserializer};

use super::{Broken, Document, Entry, LinkTables, ScheduleTable, Section, Spanned, VERSION};
use crate::{diagnosis::Problem, nearest, variant};

pub(crate) fn keys() -> impl Iterator<Item = &'static str> + Clone {
    let others = ["paths", "pairs", "workloads", "factors", "schedule", "probes", variant::KEY];
    ["schema", "name", "title", "about", "family"].into_iter().chain(lab_keys()).chain(others)
}

pub(crate) fn lab_keys() -> impl Iterator<Item = &'static str> + Clone {
    let others = ["vms", "gateways", "routes", "devices", "faults"];
    ["hosts"].into_iter().chain(LinkTables::KEYS.iter().copied()).chain(others)
}

pub(crate) const FIXED: &[&str] = &["schema", "name", variant::KEY];

/// Unreadable parts are reported, left out, and recorded in [`Document::broken`]. Fails on a syntax error.
pub(crate) fn read(text: &str) -> Result<(Document, Vec<Problem>), Vec<Problem>> {
    let (root, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        return Err(errors.iter().take(1).map(syntax).collect());
    }
    let mut reader = Reader { root: root.into_inner(), problems: Vec::new(), broken: Broken::default() };
    let mut document = reader.document();
    document.broken = reader.broken;
    Ok((document, reader.problems))
}

fn syntax(error: &Error) -> Problem {
    let span = error.span().unwrap_or(0..0);
    Problem::new(span, format!("invalid TOML: {}", error.message()), "here")
}

pub(crate) trait ReadSection {
    fn section<T: DeserializeOwned>(&mut self, key: &str) -> Section<T>;
}

struct Reader<'t> {
    root: DeTable<'t>,
    problems: Vec<Problem>,
    broken: Broken,
}

impl<'t> Reader<'t> {
    fn document(&mut self) -> Document {
        self.refuse_unknown_keys();
        let hosts = self.required_section("hosts", "a lab needs at least one host: add `[hosts.NAME]`");
        let workloads = self.required_section("workloads", "add `[workloads.NAME]`");
        Document {
            schema: self.required("schema").unwrap_or_else(|| Spanned::new(0..0, VERSION)),
            name: self.required("name").unwrap_or_else(|| Spanned::new(0..0, "unnamed".to_owned())),
            title: self.required("title").unwrap_or_default(),
            about: self.optional("about").unwrap_or_default(),
            family: self.optional("family"),
            hosts,
            links: LinkTables::read(self),
            vms: self.section("vms"),
            gateways: self.section("gateways"),
            routes: self.list("routes"),
            devices: self.section("devices"),
            faults: self.section("faults"),
            paths: self.section("paths"),
            pairs: self.optional("pairs"),
            workloads,
            factors: self.section("factors"),
            schedule: self.optional::<ScheduleTable>("schedule").unwrap_or_default(),
            probes: self.optional("probes"),
            variants: self.section(variant::KEY),
            broken: Broken::default(),
        }
    }

    fn refuse_unknown_keys(&mut self) {
        for key in self.root.keys().filter(|key| !keys().any(|known| known == key.get_ref())) {
            self.problems.push(unknown_key(key.span(), key.get_ref(), keys()));
            self.broken.lab = true;
        }
    }

    fn is_misspelt(&self, key: &str) -> bool {
        let mut typed = self.root.keys().map(|typed| typed.get_ref());
        typed.any(|typed| keys().all(|known| known != typed) && nearest::word(typed, keys()) == Some(key))
    }

    fn take(&mut self, key: &str) -> Option<toml::Spanned<DeValue<'t>>> {
        self.root.remove(key)
    }

    fn required<T: Deserialize<'t>>(&mut self, key: &str) -> Option<T> {
        let value = self.take(key);
        if value.is_none() && !self.is_misspelt(key) {
            let help = match key {
                "schema" => "start the document with `schema = 1`".to_owned(),
                _ => format!("add `{key} = \"...\"` at the top"),
            };
            self.problems.push(Problem::new(0..0, format!("`{key}` is missing"), "here").help(help));
        }
        self.value(value?)
    }

    fn optional<T: Deserialize<'t>>(&mut self, key: &str) -> Option<T> {
        let value = self.take(key)?;
        self.value(value)
    }

    fn required_section<T: DeserializeOwned>(&mut self, key: &str, help: &str) -> Section<T> {
        let before = self.problems.len();
        let section = self.section(key);
        if section.0.is_empty() && self.problems.len() == before && !self.is_misspelt(key) {
            self.problems.push(Problem::new(0..0, format!("the scenario has no {key}"), "here").help(help));
        }
        section
    }

    fn entries<T: Deserialize<'t>>(&mut self, key: &str) -> Section<T> {
        let Some(value) = self.take(key) else { return Section::default() };
        let span = value.span();
        let DeValue::Table(table) = value.into_inner() else {
            self.problems.push(not_a_section(span, key));
            return Section::default();
        };
        let entries = table.into_iter().filter_map(|(name, value)| {
            let name = Spanned::new(name.span(), name.into_inner().into_owned());
            let table = self.value(value);
            if table.is_none() {
                self.broken.names.insert(name.get_ref().clone());
            }
            Some(Entry { name, table: table? })
        });
        Section::new(entries.collect())
    }

    fn list<T: Deserialize<'t>>(&mut self, key: &str) -> Vec<T> {
        let Some(value) = self.take(key) else { return Vec::new() };
        let span = value.span();
        let DeValue::Array(array) = value.into_inner() else {
            let help = format!("write `[[{key}]]` before each table");
            self.problems
                .push(Problem::new(span, format!("`{key}` must be a list of tables"), "here").help(help));
            self.broken.lab = true;
            return Vec::new();
        };
        let (all, read) = (array.len(), array.into_iter().filter_map(|value| self.value(value)));
        let read: Vec<T> = read.collect();
        self.broken.lab |= read.len() < all;
        read
    }

    /// If a key is unknown, reads the value again without this key to find further problems.
    fn value<T: Deserialize<'t>>(&mut self, mut value: toml::Spanned<DeValue<'t>>) -> Option<T> {
        let mut clean = true;
        let mut misspelled: Vec<String> = Vec::new();
        loop {
            let error = match T::deserialize(ValueDeserializer::from(value.clone())) {
                Ok(read) => return clean.then_some(read),
                Err(error) => error,
            };
            clean = false;
            let message = error.message();
            let words = quoted(message);
            match words.split_first() {
                Some((key, _))
                    if message.starts_with(MISSING)
                        && misspelled.iter().any(|misspelled| misspelled == key) => {}
                _ => self.problems.push(shape(&error, &value.span())),
            }
            if let Some((typed, valid)) = words.split_first().filter(|_| message.starts_with(UNKNOWN)) {
                misspelled.extend(nearest::word(typed, valid.iter().copied()).map(ToOwned::to_owned));
            }
            if !without_key_at(&mut value, error.span()) {
                return None;
            }
        }
    }
}

impl<'t> ReadSection for Reader<'t> {
    fn section<T: DeserializeOwned>(&mut self, key: &str) -> Section<T> {
        let before = self.problems.len();
        let section = self.entries(key);
        self.broken.lab |= self.problems.len() > before && lab_keys().any(|lab_key| lab_key == key);
        section
    }
}

fn without_key_at(value: &mut toml::Spanned<DeValue<'_>>, span: Option<Range<usize>>) -> bool {
    let Some(span) = span else { return false };
    let DeValue::Table(table) = value.get_mut() else { return false };
    match table.keys().find(|key| key.span() == span).cloned() {
        Some(key) => table.remove(&key).is_some(),
        None => table.iter_mut().any(|(_, value)| without_key_at(value, Some(span.clone()))),
    }
}

fn not_a_section(span: Range<usize>, key: &str) -> Problem {
    let problem = Problem::new(span, format!("`{key}` must be a table of named tables"), "here");
    problem.help(format!("write `[{key}.NAME]` before the settings of each"))
}

const MISSING: &str = "missing field";
const UNKNOWN: &str = "unknown field";

fn quoted(message: &str) -> Vec<&str> {
    message.split('`').skip(1).step_by(2).collect()
}

fn shape(error: &Error, table: &Range<usize>) -> Problem {
    let span = error.span().unwrap_or_else(|| table.clone());
    let message = error.message();
    let words = quoted(message);
    match words.split_first() {
        Some((typed, valid)) if message.starts_with(UNKNOWN) => {
            unknown_key(span, typed, valid.iter().copied())
        }
        Some((typed, valid)) if message.starts_with("unknown variant") => unknown_word(span, typed, valid),
        Some((key, _)) if message.starts_with(MISSING) => {
            Problem::new(span, format!("`{key}` is missing"), "in this table")
                .help(format!("add `{key} = ...`"))
        }
        _ if message.starts_with("wanted ") => Problem::new(span, "expected a string", "here"),
        _ => Problem::new(span, other_type(message).unwrap_or_else(|| message.to_owned()), "here"),
    }
}

/// Rewords serde's messages, such as `invalid type: sequence, expected u32`.
fn other_type(message: &str) -> Option<String> {
    let rest = message.strip_prefix("invalid type: ").or_else(|| message.strip_prefix("invalid value: "))?;
    let (found, wanted) = rest.split_once(", expected ")?;
    let wanted = match wanted {
        "u16" | "u32" | "u64" => "an integer",
        "a sequence" => "a list",
        "a map" => "a table",
        "a string" => "a string",
        "a boolean" => "true or false",
        _ if wanted.starts_with("struct ") => "a table",
        _ => wanted,
    };
    let found = match found {
        "sequence" => "a list",
        "map" => "a table",
        _ => found,
    };
    Some(format!("expected {wanted}, not {found}"))
}

fn unknown_key<'a>(
    span: Range<usize>,
    typed: &str,
    valid: impl IntoIterator<Item = &'a str> + Clone,
) -> Problem {
    let problem = Problem::new(span, format!("unknown key `{typed}`"), "not a key here");
    problem.help(nearest::advice(typed, "keys", valid))
}

fn unknown_word(span: Range<usize>, typed: &str, valid: &[&str]) -> Problem {
    let problem = Problem::new(span, format!("`{typed}` is not a valid value"), "invalid value");
    problem.help(nearest::advice(typed, "words", valid.iter().copied()))
}
