//! Classifies table columns as settings, repetitions or values, by their units and content.

use std::collections::BTreeSet;

use workload::Quantity;

use crate::{
    options::Options,
    quantity::{Amount, amount},
    statistic,
    unit::{Unit, unit},
};

/// Largest number without a unit that is accepted as a setting.
const LARGEST_SETTING: f64 = 65_536.0;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) role: Role,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Role {
    Factor,
    Repeat,
    Value(Scale),
    /// Bounds of the preceding value's confidence interval.
    Interval,
    Words,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    pub(super) quantity: Quantity,
    pub(super) unit: Option<Unit>,
}

impl Column {
    pub(super) const fn scale(&self) -> Option<Scale> {
        match self.role {
            Role::Value(scale) => Some(scale),
            _ => None,
        }
    }
}

pub(super) fn columns(headings: &[String], rows: &[Vec<String>], options: &Options) -> Vec<Column> {
    let looks: Vec<Looks> = headings
        .iter()
        .enumerate()
        .map(|(at, heading)| Looks::of(heading, rows.iter().filter_map(|row| row.get(at))))
        .collect();
    let mut columns: Vec<Column> = Vec::with_capacity(looks.len());
    let mut leads = true;
    for (at, look) in looks.iter().enumerate() {
        // Numbers such as `6.1` and `6.12` are versions if measured columns follow.
        let is_measured = |other: &Looks| other.kind == Kind::Measured;
        let is_version = look.kind == Kind::Number
            && leads
            && look.has_points
            && (names_version(&look.name) || (at == 0 && looks[1..].iter().any(is_measured)));
        let role = look.role(leads, options);
        let is_value = matches!(role, Role::Value(_)) && !named(&options.metrics, look);
        let role = if is_version && is_value { Role::Factor } else { role };
        let column = Column { name: look.name.clone(), role };
        leads &= column.scale().is_none();
        columns.push(column);
    }
    if leads {
        numbers_are_values(&mut columns, &looks, options);
    }
    names_distinguish_rows(&mut columns, rows);
    columns
}

/// Treats text to the right of values as settings if some rows are otherwise equal.
fn names_distinguish_rows(columns: &mut [Column], rows: &[Vec<String>]) {
    if columns.iter().any(|column| column.role == Role::Repeat) {
        return;
    }
    let settings = |row: &Vec<String>| -> Vec<String> {
        let of_row = columns.iter().zip(row).filter(|(column, _)| column.role == Role::Factor);
        of_row.map(|(_, cell)| cell.clone()).collect()
    };
    let all: Vec<Vec<String>> = rows.iter().map(settings).collect();
    let has_equal = all.iter().enumerate().any(|(at, own)| all[..at].contains(own));
    if has_equal {
        let words = columns.iter_mut().filter(|column| column.role == Role::Words);
        words.for_each(|column| column.role = Role::Factor);
    }
}

fn names_version(name: &str) -> bool {
    const WORDS: [&str; 10] =
        ["kernel", "version", "release", "linux", "firmware", "driver", "cni", "cilium", "calico", "image"];
    let name = name.to_lowercase();
    WORDS.iter().any(|word| name.contains(word))
}

fn names_setting(name: &str) -> bool {
    const WORDS: [&str; 4] = ["duration", "samples", "test time", "runtime"];
    let name = name.to_lowercase();
    WORDS.iter().any(|word| name.contains(word))
}

/// Treats numeric columns after the first one as values, if nothing in the table has a unit.
fn numbers_are_values(columns: &mut [Column], looks: &[Looks], options: &Options) {
    for (column, look) in columns.iter_mut().zip(looks).skip(1) {
        if column.role == Role::Factor && look.kind == Kind::Setting && !named(&options.factors, look) {
            column.role = Role::Value(look.scale());
        }
    }
}

#[derive(Debug)]
struct Looks {
    heading: String,
    name: String,
    unit: Option<Unit>,
    kind: Kind,
    quantity: Option<Quantity>,
    whole: bool,
    /// Whether all numbers have a decimal point, as version numbers do.
    has_points: bool,
    is_interval: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Measured,
    Setting,
    Number,
    Words,
}

impl Looks {
    fn of<'a>(heading: &str, cells: impl Iterator<Item = &'a String>) -> Self {
        let (name, unit) = heading_unit(heading);
        let repeats = counts_repetitions(&name);
        let is_summary = |cell: &String| repeats && statistic::statistic(cell).is_some();
        let filled: Vec<&String> = cells.filter(|cell| !is_blank(cell) && !is_summary(cell)).collect();
        let amounts: Vec<Amount> = filled.iter().filter_map(|cell| cell_amount(cell)).collect();
        let with_unit: Vec<Quantity> =
            amounts.iter().filter_map(|amount| Some(amount.unit?.quantity)).collect();
        let small = |amount: &Amount| amount.plain && amount.number <= LARGEST_SETTING;
        let kind = if unit.is_some() || (!with_unit.is_empty() && with_unit.len() * 2 >= filled.len()) {
            Kind::Measured
        } else if amounts.len() * 2 <= filled.len() {
            Kind::Words
        } else if amounts.iter().all(small) {
            Kind::Setting
        } else {
            Kind::Number
        };
        let whole = amounts.iter().all(|amount| amount.whole);
        let has_points = filled.iter().all(|cell| cell.contains('.'));
        let intervals = filled.iter().filter(|cell| interval(cell).is_some()).count();
        let is_interval = intervals > 0 && intervals * 2 >= filled.len();
        Self {
            has_points,
            is_interval,
            heading: heading.to_owned(),
            name,
            unit,
            kind,
            quantity: commonest(&with_unit),
            whole,
        }
    }

    /// `leads` means that no value column precedes this one.
    fn role(&self, leads: bool, options: &Options) -> Role {
        if named(&options.factors, self) {
            return Role::Factor;
        }
        if named(&options.metrics, self) {
            return Role::Value(self.scale());
        }
        if self.is_interval && !leads && self.kind == Kind::Words {
            return Role::Interval;
        }
        if leads && names_setting(&self.name) {
            return Role::Factor;
        }
        // Amounts such as `64 KiB` describe the setup rather than a result.
        let is_amount = matches!(self.scale().quantity, Quantity::Size | Quantity::Count);
        match self.kind {
            Kind::Setting if leads && counts_repetitions(&self.name) => Role::Repeat,
            Kind::Words | Kind::Setting if leads => Role::Factor,
            Kind::Measured if leads && is_amount => Role::Factor,
            Kind::Words => Role::Words,
            Kind::Measured | Kind::Setting | Kind::Number => Role::Value(self.scale()),
        }
    }

    fn scale(&self) -> Scale {
        let bare = if self.whole { Quantity::Count } else { Quantity::Plain };
        let by_cells = if self.kind == Kind::Measured { self.quantity } else { None };
        let quantity = self.unit.map(|unit| unit.quantity).or(by_cells).unwrap_or(bare);
        Scale { quantity, unit: self.unit }
    }
}

/// Splits a heading into name and unit: `Throughput (Gbit/sec)`, `Latency [us]`, `CPU %`.
pub(super) fn heading_unit(heading: &str) -> (String, Option<Unit>) {
    for (open, close) in [('(', ')'), ('[', ']'), ('（', '）')] {
        let inner = heading.strip_suffix(close).and_then(|text| text.rsplit_once(open));
        if let Some((name, unit)) = inner.and_then(|(name, inner)| Some((name, unit(inner)?))) {
            return (name.trim().to_owned(), Some(unit));
        }
    }
    if let Some(name) = heading.strip_suffix('%').map(str::trim_end).filter(|name| !name.is_empty()) {
        return (name.to_owned(), unit("%"));
    }
    // Also matches `Throughput Mb/s` and `Latency in us`.
    let is_rate_or_time =
        |unit: &Unit| matches!(unit.quantity, Quantity::BitRate | Quantity::Time | Quantity::PerSecond);
    let last =
        heading.rsplit_once(' ').and_then(|(name, word)| Some((name, unit(word).filter(is_rate_or_time)?)));
    // The whole heading may be a unit, as in `CNI | Gbps`.
    let whole = unit(heading).filter(|unit| is_rate_or_time(unit) && heading.len() > 1);
    match last.or(whole.map(|unit| (heading, unit))) {
        Some((name, unit)) => (name.trim().trim_end_matches(" in").to_owned(), Some(unit)),
        None => (heading.to_owned(), None),
    }
}

pub(super) fn interval(cell: &str) -> Option<(Amount, Amount)> {
    let cell = cell.trim().trim_start_matches(['[', '(']);
    let (low, high) =
        cell.split_once('-').or_else(|| cell.split_once(" to ")).or_else(|| cell.split_once(", "))?;
    let high = amount(high.trim_end_matches(']'))?;
    let low = amount(low)?;
    (low.number <= high.number && (low.unit.is_none() || low.unit == high.unit))
        .then_some((Amount { unit: high.unit, ..low }, high))
}

/// The number may be in brackets after text. If both ends have a number, returns that of the receiver.
pub(super) fn cell_amount(cell: &str) -> Option<Amount> {
    let bracketed = || cell.strip_suffix(')')?.rsplit_once('(').map(|(_, inner)| inner);
    let with_unit = |text: &str| amount(text).filter(|amount| amount.unit.is_some());
    amount(cell).or_else(|| with_unit(bracketed()?)).or_else(|| with_unit(received(cell)?))
}

/// Returns the receiver's part of `9.44 Gbits/sec sender - 9.41 Gbits/sec receiver`.
fn received(cell: &str) -> Option<&str> {
    let (sender, receiver) = cell.split_once(" - ").or_else(|| cell.split_once(" / "))?;
    amount(sender.trim().strip_suffix("sender")?)?;
    receiver.trim().strip_suffix("receiver")
}

pub(super) fn is_blank(cell: &str) -> bool {
    matches!(cell, "" | "-" | "–" | "—" | "n/a" | "N/A" | "?")
}

fn named(wanted: &[String], looks: &Looks) -> bool {
    let is =
        |name: &String| [&looks.heading, &looks.name].iter().any(|own| own.eq_ignore_ascii_case(name.trim()));
    wanted.iter().any(is)
}

impl Options {
    #[must_use]
    pub fn unknown(&self, columns: &BTreeSet<String>) -> Vec<&str> {
        let known = |wanted: &&String| columns.iter().any(|heading| means(wanted, heading));
        let named = self.factors.iter().chain(&self.metrics).filter(|wanted| !known(wanted));
        named.map(String::as_str).collect()
    }
}

fn means(wanted: &str, heading: &str) -> bool {
    let (wanted, (name, _)) = (wanted.trim(), heading_unit(heading));
    heading.eq_ignore_ascii_case(wanted) || name.eq_ignore_ascii_case(wanted)
}

pub(super) fn counts_repetitions(name: &str) -> bool {
    const WORDS: [&str; 9] = ["#", "no.", "nr.", "run", "trial", "iteration", "repetition", "rep", "round"];
    WORDS.iter().any(|word| word.eq_ignore_ascii_case(name))
}

fn commonest(quantities: &[Quantity]) -> Option<Quantity> {
    let count = |quantity: &Quantity| quantities.iter().filter(|other| *other == quantity).count();
    // Takes the first of equally common quantities. `max_by_key` would return the last.
    quantities.iter().rev().max_by_key(|quantity| count(quantity)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Describes each column by one letter: factor, repetition, words, or the quantity.
    fn roles(headings: &[&str], rows: &[&[&str]], options: &Options) -> String {
        let own = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let rows: Vec<Vec<String>> = rows.iter().map(|row| own(row)).collect();
        let letter = |column: &Column| match column.role {
            Role::Factor => 'f',
            Role::Repeat => 'r',
            Role::Interval => 'i',
            Role::Words => 'w',
            Role::Value(scale) => match scale.quantity {
                Quantity::BitRate => 'B',
                Quantity::ByteRate => 'Y',
                Quantity::Time => 'T',
                Quantity::PerSecond => 'S',
                Quantity::Share => '%',
                Quantity::Count => 'C',
                Quantity::Size => 'Z',
                Quantity::Plain => 'P',
            },
        };
        columns(&own(headings), &rows, options).iter().map(letter).collect()
    }

    #[test]
    fn leading_words_and_small_integers_are_factors() {
        let none = Options::default();
        for (headings, row, expected) in [
            (
                &["Queue", "채널 수", "대역폭 (Gbit/sec)", "Proxmox CPU (%)"][..],
                &["1", "2", "25.8", "4"][..],
                "ffB%",
            ),
            (
                &["Configuration", "Throughput", "Performance vs BM", "Retransmissions"],
                &["BM-BM", "23.5 Gbits/sec", "Baseline (100%)", "6,408"],
                "fB%C",
            ),
            (&["Size", "Run", "Latency [us]"], &["64 B", "3", "12"], "frT"),
            (&["System", "Threads", "Score"], &["a", "12", "1.5"], "ffP"),
            (&["Threads", "Packets"], &["4", "120"], "fC"),
            (&["Layer", "Rate", "Remark"], &["veth", "5 Gbit/s", "pinned"], "fBw"),
            (&["Rate"], &["5 Gbit/s"], "B"),
            (&["Case", "Detail"], &["1", "9.44 Gbits/sec sender - 9.41 Gbits/sec receiver"], "fB"),
            (&["Name", "Memory", "Interface"], &["node 1", "128G", "10G"], "fff"),
            (&["Kernel", "Throughput (Gbit/s)"], &["6.12", "9.4"], "fB"),
            (&["Version", "50th"], &["1.14", "1.13"], "fP"),
            (&["Test", "Duration", "Throughput Mb/s"], &["TCP_STREAM", "10s", "9400.00"], "ffB"),
            (
                &["Scenario", "Samples", "Avg value", "95% confidence interval"],
                &["TCP_STREAM", "3", "7100.0 (Mb/s)", "7000.0-7200.0 (Mb/s)"],
                "ffBi",
            ),
        ] {
            assert_eq!(roles(headings, &[row], &none), expected, "{headings:?}");
        }
    }

    #[test]
    fn options_override_detection() {
        let options = Options { factors: vec!["rate".to_owned()], metrics: vec!["Threads".to_owned()] };
        assert_eq!(roles(&["Threads", "Rate (Gbit/s)", "Rtt (us)"], &[&["4", "10", "80"]], &options), "CfT");
    }

    #[test]
    fn removes_only_known_units_from_headings() {
        for (heading, name, has_unit) in [
            ("대역폭 (Gbit/sec)", "대역폭", true),
            ("Latency [us]", "Latency", true),
            ("CPU %", "CPU", true),
            ("50th (Median)", "50th (Median)", false),
            ("%", "%", false),
            ("Gbps", "Gbps", true),
        ] {
            let (read, unit) = heading_unit(heading);
            assert_eq!((read.as_str(), unit.is_some()), (name, has_unit), "{heading}");
        }
    }
}
