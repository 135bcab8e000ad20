//! Runs every contender once per round, in random order, so that drift affects all equally.

use std::{
    io::{Write, stderr},
    time::{Duration, Instant},
};

use rand::{SeedableRng, seq::SliceRandom};
use rand_pcg::Pcg64Mcg;

use crate::others::{Moment, Others};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) rounds: usize,
    pub(crate) time: Duration,
    pub(crate) report: fn(&str, usize, usize),
}

impl Bounds {
    pub(crate) fn and(&self, more: usize) -> Self {
        Self { rounds: self.rounds + more, ..*self }
    }

    pub(crate) fn for_longer(&self, time: Duration) -> Self {
        Self { time: self.time + time, ..*self }
    }

    pub(crate) fn of_at_most(&self, rounds: usize) -> Self {
        Self { rounds: self.rounds.min(rounds), ..*self }
    }
}

pub(crate) trait Contender {
    fn name(&self) -> &'static str;

    fn works_in(&self, _round: usize) -> bool {
        true
    }

    /// All contenders of a bench return their values in the same order.
    fn measure(&mut self) -> anyhow::Result<Measured>;
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Measured {
    pub(crate) values: Vec<f64>,
    pub(crate) extra: Vec<(&'static str, f64)>,
}

impl From<Vec<f64>> for Measured {
    fn from(values: Vec<f64>) -> Self {
        Self { values, extra: vec![] }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Taken {
    pub(crate) name: &'static str,
    pub(crate) rounds: Vec<Measured>,
    pub(crate) others: Others,
    pub(crate) failure: Option<String>,
}

/// Runs the rounds and rests for `rest` after each. A warm-up round fills caches and excludes contenders that
/// fail.
pub(crate) fn take(
    bench: &str,
    contenders: &mut [Box<dyn Contender + '_>],
    bounds: &Bounds,
    rest: Duration,
) -> Vec<Taken> {
    let names = contenders.iter().map(|contender| contender.name());
    let mut taken: Vec<Taken> = names.map(|name| Taken { name, ..Taken::default() }).collect();
    let mut order: Vec<usize> = (0..contenders.len()).collect();
    let mut random = Pcg64Mcg::seed_from_u64(0);
    let begin = Instant::now();
    for round in 0..=bounds.rounds {
        if begin.elapsed() > bounds.time {
            break;
        }
        (bounds.report)(bench, round, bounds.rounds);
        order.shuffle(&mut random);
        for &index in &order {
            if taken[index].failure.is_some() {
                continue;
            }
            if contenders[index].works_in(round) {
                work(contenders[index].as_mut(), &mut taken[index], round > 0);
                std::thread::sleep(rest);
            } else if round > 0 {
                taken[index].rounds.push(Measured::default());
            }
        }
    }
    taken
}

fn work(contender: &mut dyn Contender, taken: &mut Taken, counts: bool) {
    let begin = Moment::now();
    match contender.measure() {
        Ok(measured) if counts => {
            taken.rounds.push(measured);
            taken.others += begin.others();
        }
        Ok(_) => {}
        Err(error) => taken.failure = Some(format!("{error:#}")),
    }
}

pub(crate) fn on_stderr(bench: &str, round: usize, rounds: usize) {
    let text = if round == 0 { "warm-up".to_owned() } else { format!("round {round} of {rounds}") };
    let _ = writeln!(stderr(), "{bench}: {text}");
}

pub(crate) fn skipped(bench: &str, because: &anyhow::Error) {
    let _ = writeln!(stderr(), "{bench}: skipped, because {because:#}");
}

#[cfg(test)]
mod tests {
    use std::{cell::RefCell, rc::Rc};

    use super::*;

    struct Fake {
        name: &'static str,
        calls: Rc<RefCell<Vec<&'static str>>>,
        fails_at: usize,
        done: usize,
    }

    impl Contender for Fake {
        fn name(&self) -> &'static str {
            self.name
        }

        fn measure(&mut self) -> anyhow::Result<Measured> {
            self.calls.borrow_mut().push(self.name);
            self.done += 1;
            anyhow::ensure!(self.done < self.fails_at, "tired");
            Ok(vec![self.done as f64].into())
        }
    }

    fn run(fails_at: usize, bounds: Bounds) -> (Vec<Taken>, Vec<&'static str>) {
        let calls = Rc::default();
        let fake = |name, fails_at| -> Box<dyn Contender> {
            Box::new(Fake { name, calls: Rc::clone(&calls), fails_at, done: 0 })
        };
        let mut contenders = vec![fake("one", usize::MAX), fake("other", fails_at)];
        let taken = take("test", &mut contenders, &bounds, Duration::ZERO);
        (taken, calls.take())
    }

    const PLENTY: Duration = Duration::from_secs(60);

    #[test]
    fn every_contender_runs_once_per_round_after_the_warmup() {
        let (taken, calls) = run(usize::MAX, Bounds { rounds: 8, time: PLENTY, report: |_, _, _| () });
        for taken in taken {
            let expected: Vec<Measured> = (2..=9).map(|done| vec![f64::from(done)].into()).collect();
            assert_eq!(taken.rounds, expected, "{}", taken.name);
        }
        assert!(calls.chunks(2).all(|round| round[0] != round[1]), "{calls:?}");
        let firsts: Vec<_> = calls.chunks(2).map(|round| round[0]).collect();
        assert!(firsts.contains(&"one") && firsts.contains(&"other"), "the order is random: {firsts:?}");
    }

    #[test]
    fn failing_contender_is_excluded() {
        let (taken, calls) = run(3, Bounds { rounds: 4, time: PLENTY, report: |_, _, _| () });
        assert_eq!(taken[0].rounds.len(), 4);
        assert_eq!((taken[1].rounds.len(), taken[1].failure.as_deref()), (1, Some("tired")));
        assert_eq!(calls.iter().filter(|name| **name == "other").count(), 3);
    }

    #[test]
    fn pairs_by_round_despite_skipped_rounds() {
        struct Second(usize);
        impl Contender for Second {
            fn name(&self) -> &'static str {
                "second"
            }
            fn works_in(&self, round: usize) -> bool {
                round.is_multiple_of(2)
            }
            fn measure(&mut self) -> anyhow::Result<Measured> {
                self.0 += 1;
                Ok(vec![self.0 as f64].into())
            }
        }
        let bounds = Bounds { rounds: 4, time: PLENTY, report: |_, _, _| () };
        let taken = take("test", &mut [Box::new(Second(0)) as Box<dyn Contender>], &bounds, Duration::ZERO);
        let values: Vec<&[f64]> = taken[0].rounds.iter().map(|round| round.values.as_slice()).collect();
        assert_eq!(values, [&[][..], &[2.0], &[], &[3.0]]);
    }

    #[test]
    fn starts_no_round_after_the_time_limit() {
        let (taken, _) = run(
            usize::MAX,
            Bounds { rounds: 1_000_000_000, time: Duration::from_millis(20), report: |_, _, _| () },
        );
        assert!(taken[0].rounds.len() < 1_000_000_000);
    }
}
