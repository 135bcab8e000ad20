//! Remembers the settings in a file's tables to interpret the headings of later tables and lists.

use std::collections::BTreeSet;

const FACTORS: usize = 16;
const LEVELS: usize = 64;

const UNNAMED: &str = "configuration";

#[derive(Debug, Default)]
pub(super) struct KnownSettings {
    factors: Vec<(String, BTreeSet<String>)>,
}

impl KnownSettings {
    /// Adds a level, unless it is a number, which would be ambiguous.
    pub(super) fn learn(&mut self, factor: &str, level: &str) {
        if level.parse::<f64>().is_ok() || level.is_empty() {
            return;
        }
        let at = self.factors.iter().position(|(name, _)| name == factor).or_else(|| {
            let fits = self.factors.len() < FACTORS;
            fits.then(|| self.factors.push((factor.to_owned(), BTreeSet::new())))?;
            Some(self.factors.len() - 1)
        });
        if let Some((_, levels)) =
            at.map(|at| &mut self.factors[at]).filter(|(_, levels)| levels.len() < LEVELS)
        {
            levels.insert(level.to_owned());
        }
    }

    pub(super) fn factor_of<'a>(&self, mut levels: impl Iterator<Item = &'a str> + Clone) -> String {
        let all = |known: &BTreeSet<String>| levels.clone().all(|level| known.contains(level));
        let found = self.factors.iter().find(|(_, known)| all(known)).map(|(name, _)| name.clone());
        found.filter(|_| levels.next().is_some()).unwrap_or_else(|| UNNAMED.to_owned())
    }

    pub(super) fn level_in(&self, heading: &str) -> Option<(String, String)> {
        let begins = |level: &str| {
            let rest = heading.strip_prefix(level);
            rest.is_some_and(|rest| {
                !rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '-' | '_'))
            })
        };
        let of_factor = |(name, levels): &(String, BTreeSet<String>)| {
            let level = levels.iter().filter(|level| begins(level)).max_by_key(|level| level.len())?;
            Some((name.clone(), level.clone()))
        };
        self.factors.iter().filter_map(of_factor).max_by_key(|(_, level)| level.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> KnownSettings {
        let mut known = KnownSettings::default();
        for level in ["BM-BM", "KVM-KVM", "KVM-KVM-vhost"] {
            known.learn("Configuration", level);
        }
        known.learn("Queue", "8");
        known
    }

    #[test]
    fn finds_longest_level_at_start_of_heading() {
        for (heading, level) in [
            ("BM-BM Server Syscalls", Some("BM-BM")),
            ("KVM-KVM-vhost Latency Server Timing", Some("KVM-KVM-vhost")),
            ("KVM-KVM Client", Some("KVM-KVM")),
            ("BM-BMX Server", None),
            ("8 Server", None),
            ("Server of BM-BM", None),
        ] {
            let found = known().level_in(heading);
            assert_eq!(found.as_ref().map(|(_, level)| level.as_str()), level, "{heading}");
        }
    }

    #[test]
    fn finds_factor_whose_levels_are_columns() {
        assert_eq!(known().factor_of(["KVM-KVM", "BM-BM"].into_iter()), "Configuration");
        assert_eq!(known().factor_of(["KVM-KVM", "other"].into_iter()), "configuration");
        assert_eq!(known().factor_of(std::iter::empty()), "configuration");
    }

    #[test]
    fn limits_factors_and_levels() {
        let mut known = KnownSettings::default();
        for at in 0..1000 {
            known.learn("f", &format!("level {at}"));
            known.learn(&format!("factor {at}"), "x");
        }
        assert_eq!(known.factors.len(), FACTORS);
        assert_eq!(known.factors[0].1.len(), LEVELS);
    }
}
