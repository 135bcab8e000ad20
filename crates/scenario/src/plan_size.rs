//! Limits the size of a plan, because each trial takes about 260 bytes of memory.

use thiserror::Error;

use crate::{expand::PlanOptions, scenario::Scenario};

/// Allows five trials of every pair of 1,000 hosts.
const MOST: usize = 5_000_000;

#[derive(Debug, Clone, Copy)]
pub(crate) struct PlanSize {
    pub(crate) results: usize,
    pub(crate) trials: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{results} results with {trials} trials each are {} trials; the limit is {MOST}", .results.saturating_mul(*.trials as usize))]
pub struct PlanTooLarge {
    results: usize,
    trials: u32,
}

impl PlanSize {
    pub(crate) fn check(self) -> Result<(), PlanTooLarge> {
        let Self { results, trials } = self;
        if results.saturating_mul(trials as usize) > MOST {
            Err(PlanTooLarge { results, trials })
        } else {
            Ok(())
        }
    }
}

impl PlanOptions {
    pub fn check_size(&self, scenario: &Scenario) -> Result<(), PlanTooLarge> {
        let results =
            scenario.workloads.iter().filter(|workload| self.wants_workload(workload)).map(|workload| {
                let its = workload.path_set();
                let paths = scenario.paths.iter().filter(|path| its.contains(&path.name));
                let of_path = |path| {
                    let applied = scenario.factors.iter().filter(|factor| factor.applies_to(path, workload));
                    applied.fold(1_usize, |results, factor| results.saturating_mul(factor.levels.len()))
                };
                paths.map(of_path).fold(0, usize::saturating_add)
            });
        let results = match self.results.len() {
            0 => results.fold(0, usize::saturating_add),
            chosen => chosen,
        };
        PlanSize { results, trials: self.blocks(scenario) }.check()
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;

    fn pairs(hosts: usize, workloads: usize, rest: &str) -> String {
        let mut text = "schema = 1\nname = \"many\"\ntitle = \"Many\"\npairs = \"all\"\n".to_owned();
        (0..hosts).for_each(|host| writeln!(text, "[hosts.h{host}]\nat = \"ssh:h{host}\"").expect("text"));
        for number in 0..workloads {
            writeln!(text, "[workloads.w{number}]\nkind = \"stream\"").expect("text");
        }
        text + rest
    }

    #[test]
    fn refuses_document_with_too_many_trials() {
        for (hosts, workloads, rest, numbers) in [
            (1000, 2, "", "1998000 results with 5 trials each are 9990000 trials; the limit is 5000000"),
            (
                500,
                1,
                "[schedule]\ntrials = 1000",
                "249500 results with 1000 trials each are 249500000 trials",
            ),
            (500, 1, "[schedule]\nprecision = \"2%\"\ntrials = 100", "249500 results with 100 trials each"),
            (1000, 1, "[schedule]\nuntil = \"clear\"", "999000 results with 20 trials each"),
            (1000, 1000, "", "999000000 results with 5 trials each"),
        ] {
            let text = pairs(hosts, workloads, rest);
            assert!(text.len() < 80_000, "it is small: {}", text.len());
            let error = Scenario::parse("many.toml", &text).expect_err("is too large").to_string();
            assert!(error.contains(numbers), "{hosts} hosts, {workloads} workloads, {rest}: {error}");
        }
    }

    #[test]
    fn refuses_options_with_too_many_trials() {
        let scenario = Scenario::parse("few.toml", &pairs(30, 1, "")).expect("it is small");
        let refused = |trials| PlanOptions { trials, ..PlanOptions::default() }.check_size(&scenario).err();
        assert_eq!((refused(None), refused(Some(5_747))), (None, None));
        for trials in [5_748, u32::MAX] {
            let error = refused(Some(trials)).expect("too many").to_string();
            assert!(error.contains(&format!("870 results with {trials} trials each")), "{error}");
        }
        let some = PlanOptions {
            workloads: vec![crate::WorkloadName::new("none")],
            trials: Some(u32::MAX),
            ..PlanOptions::default()
        };
        assert_eq!(some.check_size(&scenario), Ok(()));
    }
}
