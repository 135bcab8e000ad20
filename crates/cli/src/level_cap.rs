//! A bound on a factor, such as `streams=16`: settings beyond it are left out before anything is judged.

use std::{collections::BTreeSet, str::FromStr};

use samples::{CellRecord, RunRecord};

use crate::failure::Misuse;

/// The highest level of a factor that may be set.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LevelCap {
    factor: String,
    most: f64,
}

impl FromStr for LevelCap {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let read = || {
            let (factor, most) = text.split_once('=')?;
            let most = most.trim().parse().ok().filter(|most: &f64| most.is_finite())?;
            Some(Self { factor: factor.trim().to_owned(), most })
        };
        read().ok_or("write a factor and the highest number that it may have, as streams=16")
    }
}

impl LevelCap {
    /// Leaves out what is beyond any of them, and says so in the title.
    pub(crate) fn apply(caps: &[Self], record: &mut RunRecord) -> Result<(), Misuse> {
        for cap in caps {
            let known: BTreeSet<&str> =
                record.header.cells.iter().flat_map(|cell| cell.levels.keys().map(String::as_str)).collect();
            if !known.contains(cap.factor.as_str()) {
                let known = known.into_iter().collect::<Vec<_>>().join(", ");
                let known = if known.is_empty() { "none".to_owned() } else { known };
                let message = format!("--at-most {}: this run has no such factor", cap.factor);
                return Err(Misuse::new(message).hint(format!("it has: {known}")));
            }
            let all = record.header.cells.len();
            record.retain_cells(|cell| cap.allows(cell));
            let kept = record.header.cells.len();
            if kept == 0 {
                let message = format!("--at-most {}={}: every setting is beyond it", cap.factor, cap.most);
                return Err(Misuse::new(message).hint("give a higher number"));
            }
            let title = &mut record.header.scenario.title;
            title.push_str(&format!(" ({} at most {}: {kept} of {all} results)", cap.factor, cap.most));
        }
        Ok(())
    }

    /// A level that is no number, and a cell without the factor, are not beyond it.
    fn allows(&self, cell: &CellRecord) -> bool {
        let level = cell.levels.get(&self.factor).and_then(|level| level.parse::<f64>().ok());
        level.is_none_or(|level| level <= self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_and_a_number_are_read_and_nothing_else_is() {
        let cap: LevelCap = "streams = 16".parse().expect("a cap");
        assert_eq!(cap, LevelCap { factor: "streams".into(), most: 16.0 });
        for wrong in ["streams", "streams=", "streams=many", "streams=inf"] {
            assert!(wrong.parse::<LevelCap>().is_err(), "{wrong}");
        }
    }
}
