//! Recognizes columns that are levels of a factor: `MTU=1500 | MTU=9000`, `64 B | 1400 B`, `1 stream | 4 streams`.

use workload::Quantity;

use super::column::{Column, Role, Scale, counts_repetitions};
use crate::{quantity::leading_number, statistic, title, unit::unit};

#[derive(Debug, Clone, PartialEq)]
pub(super) struct LevelColumns {
    pub(super) factor: String,
    pub(super) levels: Vec<Option<String>>,
    pub(super) name: &'static str,
    pub(super) repeats: bool,
}

const RUN: &str = "run";
const COLUMN: &str = "column";

/// Finds level columns and turns them into values. The heading `Size / Direction` makes `Size` the factor.
pub(super) fn find(columns: &mut [Column]) -> Option<LevelColumns> {
    let parts: Vec<Option<(String, String)>> = columns
        .iter()
        .enumerate()
        .map(|(at, column)| if at == 0 { None } else { level(&column.name) })
        .collect();
    let (at, factor) = parts.iter().enumerate().find_map(|(at, part)| {
        columns[at].scale()?;
        let factor = &part.as_ref()?.0;
        let alike = parts.iter().flatten().filter(|(other, _)| other == factor).count();
        (alike > 1).then(|| (at, factor.clone()))
    })?;
    let scale = columns[at].scale()?;
    // Sometimes, only one of the headings has a unit.
    let of_factor =
        |part: &Option<(String, String)>| part.as_ref().is_some_and(|(other, _)| *other == factor);
    let mut scales = columns
        .iter()
        .zip(&parts)
        .filter(|(_, part)| of_factor(part))
        .filter_map(|(column, _)| column.scale());
    let scale = scales.find(|scale| scale.unit.is_some()).unwrap_or(scale);
    let is_level = |(column, part): (&Column, &Option<(String, String)>)| {
        let part = part.as_ref().filter(|(other, _)| *other == factor)?;
        fits(column, scale).then(|| part.1.clone())
    };
    let levels: Vec<Option<String>> = columns.iter().zip(&parts).map(is_level).collect();
    let mut distinct: Vec<&String> = levels.iter().flatten().collect();
    distinct.sort();
    distinct.dedup();
    if distinct.len() < 2 || distinct.len() < levels.iter().flatten().count() {
        return None;
    }
    let name = columns[0].name.clone();
    let split = name.split_once(['/', '\\']).filter(|_| factor.is_empty());
    let factor = match split {
        Some((before, _)) => before.trim().to_owned(),
        None if factor.is_empty() => name.clone(),
        None => factor,
    };
    // The first column's heading usually names the rows, which must stay distinct.
    let names_rows = |column: &Column| column.role == Role::Factor && column.name == factor;
    let factor = if split.is_none() && columns.iter().any(names_rows) { COLUMN.to_owned() } else { factor };
    if let Some((_, after)) = split {
        after.trim().clone_into(&mut columns[0].name);
    }
    for (column, _) in columns.iter_mut().zip(&levels).filter(|(_, level)| level.is_some()) {
        let own = column.scale().filter(|own| own.quantity == scale.quantity);
        column.role = Role::Value(own.unwrap_or(scale));
    }
    let repeats = counts_repetitions(&factor) || factor == RUN;
    Some(LevelColumns { factor, levels, name: word(scale.quantity), repeats })
}

fn fits(column: &Column, scale: Scale) -> bool {
    match column.role {
        Role::Value(own) => {
            let is_bare = own.unit.is_none() && matches!(own.quantity, Quantity::Plain | Quantity::Count);
            own.quantity == scale.quantity || (is_bare && scale.unit.is_some())
        }
        Role::Words => true,
        Role::Factor | Role::Repeat | Role::Interval => false,
    }
}

/// Returns the factor and level of a heading with one number. Plain numbers and sizes have an empty factor.
pub(super) fn level(heading: &str) -> Option<(String, String)> {
    let heading = heading.trim();
    if statistic::statistic(heading).is_some() {
        return None;
    }
    if title::is_run(heading) {
        return Some((RUN.to_owned(), heading.to_owned()));
    }
    if let Some((name, level)) = heading.split_once('=') {
        let (name, level) = (name.trim(), level.trim());
        return (!name.is_empty() && !level.is_empty()).then(|| (name.to_owned(), level.to_owned()));
    }
    let start = heading.find(|sign: char| sign.is_ascii_digit())?;
    let (before, rest) = heading.split_at(start);
    let (_, after) = leading_number(rest)?;
    if after.contains(|sign: char| sign.is_ascii_digit()) {
        return None;
    }
    let (before, after_word) = (before.trim().trim_end_matches([':', '-', '_']).trim(), after.trim());
    let number = rest[..rest.len() - after.len()].trim();
    let is_size =
        unit(after_word).is_some_and(|unit| matches!(unit.quantity, Quantity::Size)) || after_word.is_empty();
    let singular = after_word.trim_end_matches('s');
    let factor = match (before, is_size) {
        ("", true) => String::new(),
        ("", false) => singular.to_owned(),
        (before, true) => before.to_owned(),
        (before, false) => format!("{before} {singular}"),
    };
    let level =
        if is_size && !after_word.is_empty() { format!("{number} {after_word}") } else { number.to_owned() };
    Some((factor, level))
}

const fn word(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::BitRate | Quantity::ByteRate => "throughput",
        Quantity::Time => "time",
        Quantity::PerSecond => "events per second",
        Quantity::Share => "share",
        Quantity::Count | Quantity::Size | Quantity::Plain => "value",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_headings_into_factor_and_level() {
        for (heading, expected) in [
            ("MTU=65520", Some(("MTU", "65520"))),
            ("1460bytes", Some(("", "1460 bytes"))),
            ("96", Some(("", "96"))),
            ("MTU 9000", Some(("MTU", "9000"))),
            ("4 streams", Some(("stream", "4"))),
            ("1 stream", Some(("stream", "1"))),
            ("-P 4", Some(("-P", "4"))),
            ("99th", None),
            ("p50", None),
            ("Run 2", Some(("run", "Run 2"))),
            ("Throughput", None),
        ] {
            let split = level(heading);
            let split = split.as_ref().map(|(factor, level)| (factor.as_str(), level.as_str()));
            assert_eq!(split, expected, "{heading}");
        }
    }
}
