//! The counters and latest results of a watch, for metrics.

use std::{collections::BTreeMap, sync::Arc};

use findings::RunResults;
use strum::VariantArray;
use units::Bytes;

use crate::{archive::StoredRun, report::Verdict};

#[derive(Debug, Default)]
pub struct Metrics {
    pub measurements: BTreeMap<(String, &'static str), u64>,
    pub latest: BTreeMap<String, Latest>,
    pub budget: Option<Bytes>,
    pub used: Option<Bytes>,
}

#[derive(Debug)]
pub struct Latest {
    pub is_lost: bool,
    pub results: Arc<RunResults>,
}

impl Metrics {
    /// Starts all counters at 0: a rate needs a sample before the first event.
    pub fn new<'a>(scenarios: impl Iterator<Item = &'a str>, budget: Option<Bytes>) -> Self {
        let count = |scenario: &str, verdict: &Verdict| ((scenario.to_owned(), verdict.word()), 0);
        let counts =
            |scenario: &'a str| Verdict::VARIANTS.iter().map(move |verdict| count(scenario, verdict));
        Self { budget, measurements: scenarios.flat_map(counts).collect(), ..Self::default() }
    }

    pub fn count(&mut self, scenario: &str, verdict: Verdict) {
        *self.measurements.entry((scenario.to_owned(), verdict.word())).or_default() += 1;
    }

    pub fn take(&mut self, scenario: &str, newest: &StoredRun, is_lost: bool) {
        let results = Arc::clone(&newest.results);
        self.latest.insert(scenario.to_owned(), Latest { is_lost, results });
    }
}
