//! Upper limits on factors, e.g. `streams=16`. Settings above a limit are excluded before the analysis.

use std::{collections::BTreeSet, str::FromStr};

use samples::{ResultRecord, RunRecord};

use crate::failure::Misuse;

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
        read().ok_or("use FACTOR=NUMBER for the highest allowed level, e.g. streams=16")
    }
}

impl LevelCap {
    pub(crate) fn apply(caps: &[Self], record: &mut RunRecord) -> Result<(), Misuse> {
        for cap in caps {
            let known: BTreeSet<&str> = record
                .header
                .results
                .iter()
                .flat_map(|result| result.levels.keys().map(String::as_str))
                .collect();
            if !known.contains(cap.factor.as_str()) {
                let known = known.into_iter().collect::<Vec<_>>().join(", ");
                let known = if known.is_empty() { "none".to_owned() } else { known };
                let message = format!("--at-most {}: the run has no such factor", cap.factor);
                return Err(Misuse::new(message).hint(format!("its factors: {known}")));
            }
            let all = record.header.results.len();
            record.retain_results(|result| cap.allows(result));
            let remaining = record.header.results.len();
            if remaining == 0 {
                let message = format!("--at-most {}={} excludes every setting", cap.factor, cap.most);
                return Err(Misuse::new(message).hint("use a higher number"));
            }
            let title = &mut record.header.scenario.title;
            title.push_str(&format!(" ({} at most {}: {remaining} of {all} results)", cap.factor, cap.most));
        }
        Ok(())
    }

    /// Always allows levels that are not numbers, and results without the factor.
    fn allows(&self, result: &ResultRecord) -> bool {
        let level = result.levels.get(&self.factor).and_then(|level| level.parse::<f64>().ok());
        level.is_none_or(|level| level <= self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_factor_and_number_only() {
        let cap: LevelCap = "streams = 16".parse().expect("a cap");
        assert_eq!(cap, LevelCap { factor: "streams".into(), most: 16.0 });
        for wrong in ["streams", "streams=", "streams=many", "streams=inf"] {
            assert!(wrong.parse::<LevelCap>().is_err(), "{wrong}");
        }
    }
}
