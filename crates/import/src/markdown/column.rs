//! What the columns of a table are: settings, repetitions, values; told by unit and content.
//! Must not know how rows are read or kept.

use workload::Quantity;

use crate::{
    options::Options,
    quantity::{Amount, amount},
    unit::{Unit, unit},
};

/// A setting written as a bare number is not larger than this.
const LARGEST_SETTING: f64 = 65_536.0;

/// A column of a table.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Column {
    /// Its heading without the unit.
    pub(super) name: String,
    pub(super) role: Role,
}

/// What a column is for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Role {
    /// It names a setting.
    Factor,
    /// It counts repetitions of equal settings.
    Repeat,
    /// It holds numbers.
    Value(Scale),
    /// It holds words beside the values.
    Words,
}

/// What the numbers of a column are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    pub(super) quantity: Quantity,
    /// The unit that the heading gives, for numbers without one.
    pub(super) unit: Option<Unit>,
}

impl Column {
    /// The value of a column of values.
    pub(super) const fn scale(&self) -> Option<Scale> {
        match self.role {
            Role::Value(scale) => Some(scale),
            _ => None,
        }
    }
}

/// What a table's columns are, from their headings and some of its rows.
pub(super) fn columns(headings: &[String], rows: &[Vec<String>], options: &Options) -> Vec<Column> {
    let looks: Vec<Looks> = headings
        .iter()
        .enumerate()
        .map(|(at, heading)| Looks::of(heading, rows.iter().filter_map(|row| row.get(at))))
        .collect();
    let mut columns: Vec<Column> = Vec::with_capacity(looks.len());
    let mut leads = true;
    for look in &looks {
        let column = Column { name: look.name.clone(), role: look.role(leads, options) };
        leads &= column.scale().is_none();
        columns.push(column);
    }
    if leads {
        numbers_are_values(&mut columns, &looks, options);
    }
    columns
}

/// In a table of which nothing has a unit, numbers beside the first column are what it is about.
fn numbers_are_values(columns: &mut [Column], looks: &[Looks], options: &Options) {
    for (column, look) in columns.iter_mut().zip(looks).skip(1) {
        if column.role == Role::Factor && look.kind == Kind::Setting && !named(&options.factors, look) {
            column.role = Role::Value(look.scale());
        }
    }
}

/// How a column looks.
#[derive(Debug)]
struct Looks {
    heading: String,
    name: String,
    unit: Option<Unit>,
    kind: Kind,
    /// What most of its cells that have a unit measure.
    quantity: Option<Quantity>,
    /// Every number in it is whole.
    whole: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Numbers with units, in the heading or in the cells.
    Measured,
    /// Small whole numbers.
    Setting,
    /// Other numbers without a unit.
    Number,
    /// No numbers.
    Words,
}

impl Looks {
    fn of<'a>(heading: &str, cells: impl Iterator<Item = &'a String>) -> Self {
        let (name, unit) = heading_unit(heading);
        let filled: Vec<&String> = cells.filter(|cell| !is_blank(cell)).collect();
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
        Self { heading: heading.to_owned(), name, unit, kind, quantity: commonest(&with_unit), whole }
    }

    /// Its role, `leads` if no column of values stands before it.
    fn role(&self, leads: bool, options: &Options) -> Role {
        if named(&options.factors, self) {
            return Role::Factor;
        }
        if named(&options.metrics, self) {
            return Role::Value(self.scale());
        }
        // `64 KiB`, `128G`: how much of something was set up, not what came of it.
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

/// A heading's name and the unit in its brackets: `Throughput (Gbit/sec)`, `Latency [us]`, `CPU %`.
fn heading_unit(heading: &str) -> (String, Option<Unit>) {
    for (open, close) in [('(', ')'), ('[', ']'), ('（', '）')] {
        let inner = heading.strip_suffix(close).and_then(|text| text.rsplit_once(open));
        if let Some((name, unit)) = inner.and_then(|(name, inner)| Some((name, unit(inner)?))) {
            return (name.trim().to_owned(), Some(unit));
        }
    }
    match heading.strip_suffix('%').map(str::trim_end).filter(|name| !name.is_empty()) {
        Some(name) => (name.to_owned(), unit("%")),
        None => (heading.to_owned(), None),
    }
}

/// The number of a cell: itself, the one in the brackets after words, or of two ends' the receiver's.
pub(super) fn cell_amount(cell: &str) -> Option<Amount> {
    let bracketed = || cell.strip_suffix(')')?.rsplit_once('(').map(|(_, inner)| inner);
    let with_unit = |text: &str| amount(text).filter(|amount| amount.unit.is_some());
    amount(cell).or_else(|| with_unit(bracketed()?)).or_else(|| with_unit(received(cell)?))
}

/// Of `9.44 Gbits/sec sender - 9.41 Gbits/sec receiver` what was received.
fn received(cell: &str) -> Option<&str> {
    let (sender, receiver) = cell.split_once(" - ").or_else(|| cell.split_once(" / "))?;
    amount(sender.trim().strip_suffix("sender")?)?;
    receiver.trim().strip_suffix("receiver")
}

/// Whether a cell says that there is nothing to say.
pub(super) fn is_blank(cell: &str) -> bool {
    matches!(cell, "" | "-" | "–" | "—" | "n/a" | "N/A" | "?")
}

fn named(wanted: &[String], looks: &Looks) -> bool {
    let is =
        |name: &String| [&looks.heading, &looks.name].iter().any(|own| own.eq_ignore_ascii_case(name.trim()));
    wanted.iter().any(is)
}

/// Whether the user means a column with this heading.
pub(crate) fn means(wanted: &str, heading: &str) -> bool {
    let (wanted, (name, _)) = (wanted.trim(), heading_unit(heading));
    heading.eq_ignore_ascii_case(wanted) || name.eq_ignore_ascii_case(wanted)
}

fn counts_repetitions(name: &str) -> bool {
    const WORDS: [&str; 9] = ["#", "no.", "nr.", "run", "trial", "iteration", "repetition", "rep", "round"];
    WORDS.iter().any(|word| word.eq_ignore_ascii_case(name))
}

fn commonest(quantities: &[Quantity]) -> Option<Quantity> {
    let count = |quantity: &Quantity| quantities.iter().filter(|other| *other == quantity).count();
    // The first of equally common ones: `max_by_key` would take the last.
    quantities.iter().rev().max_by_key(|quantity| count(quantity)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each column as a letter: factor, repetition, words, or what it measures.
    fn roles(headings: &[&str], rows: &[&[&str]], options: &Options) -> String {
        let own = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let rows: Vec<Vec<String>> = rows.iter().map(|row| own(row)).collect();
        let letter = |column: &Column| match column.role {
            Role::Factor => 'f',
            Role::Repeat => 'r',
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
    fn leading_words_and_small_numbers_are_factors_and_the_rest_are_values() {
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
        ] {
            assert_eq!(roles(headings, &[row], &none), expected, "{headings:?}");
        }
    }

    #[test]
    fn the_user_has_the_last_word() {
        let options = Options { factors: vec!["rate".to_owned()], metrics: vec!["Threads".to_owned()] };
        assert_eq!(roles(&["Threads", "Rate (Gbit/s)", "Rtt (us)"], &[&["4", "10", "80"]], &options), "CfT");
    }

    #[test]
    fn only_a_known_unit_is_taken_off_a_heading() {
        for (heading, name, has_unit) in [
            ("대역폭 (Gbit/sec)", "대역폭", true),
            ("Latency [us]", "Latency", true),
            ("CPU %", "CPU", true),
            ("50th (Median)", "50th (Median)", false),
            ("%", "%", false),
        ] {
            let (read, unit) = heading_unit(heading);
            assert_eq!((read.as_str(), unit.is_some()), (name, has_unit), "{heading}");
        }
    }
}
