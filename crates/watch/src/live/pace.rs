//! Estimates a run's remaining time from the boots and trials that have finished.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use protocol::DesignDecision;
use scenario::{Plan, PlannedTrial, Scenario};
use units::Nanos;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    About(Duration),
    AtMost(Duration),
    /// The time for the trials. The boot time of this many machines is unknown and excluded.
    AfterBoots(Duration, usize),
}

#[derive(Debug)]
pub struct Pace {
    plan: Plan,
    done: BTreeSet<u32>,
    reached: u32,
    skipped: BTreeSet<String>,
    taken: BTreeMap<usize, (u32, Duration)>,
    under_way: Vec<(PlannedTrial, Instant)>,
    decided: Option<Decided>,
    again: Vec<usize>,
    boots: Boots,
    measuring: bool,
}

#[derive(Debug)]
struct Decided {
    decision: DesignDecision,
    finished: u32,
    spent: Duration,
}

#[derive(Debug, Default)]
struct Boots {
    guests: usize,
    under_way: BTreeMap<String, Instant>,
    taken: Vec<Duration>,
    concurrent: usize,
    end: Option<Instant>,
}

impl Pace {
    pub fn new(scenario: &Scenario, plan: &Plan, there: BTreeSet<u32>) -> Self {
        Self {
            plan: plan.clone(),
            done: there,
            reached: 0,
            skipped: BTreeSet::new(),
            taken: BTreeMap::new(),
            under_way: Vec::new(),
            decided: None,
            again: Vec::new(),
            boots: Boots { guests: lab::guests(scenario, plan), ..Boots::default() },
            measuring: false,
        }
    }

    pub fn boots(&mut self, host: &str, now: Instant) {
        let boots = &mut self.boots;
        boots.under_way.insert(host.to_owned(), now);
        boots.concurrent = boots.concurrent.max(boots.under_way.len());
    }

    pub fn booted(&mut self, host: &str, within: Nanos) {
        self.boots.under_way.remove(host);
        self.boots.taken.push(within.into());
    }

    /// Only call this if the run is inside a virtual hypervisor.
    pub fn hypervisor_booted(&mut self, scenario: &Scenario, host: &str, within: Nanos, now: Instant) {
        self.boots.under_way.remove(host);
        let all = Duration::from(lab::run_time(scenario, &self.plan, within, true));
        self.boots.end = Some(now + all.saturating_sub(within.into()));
    }

    pub fn begin(&mut self) {
        self.measuring = true;
    }

    pub fn trial(&mut self, planned: &PlannedTrial, now: Instant) {
        self.reached = self.reached.max(planned.index);
        if self.under_way.last().is_none_or(|(last, _)| !last.is_simultaneous_with(planned)) {
            self.under_way.clear();
        }
        self.under_way.push((planned.clone(), now));
    }

    /// `index` is the trial's position in the plan. A `disturbed` trial will be repeated.
    pub fn trial_stored(&mut self, index: u32, disturbed: bool, now: Instant) {
        let found = self.under_way.iter().find(|(planned, _)| planned.index == index);
        let Some((planned, since)) = found.cloned() else { return };
        let (count, taken) = self.taken.entry(planned.result).or_default();
        *count += 1;
        // Concurrent trials share the elapsed time.
        *taken += (now - since + Duration::from(self.plan.pause)) / self.under_way.len() as u32;
        if self.under_way.last().is_some_and(|(last, _)| last.index == index) {
            self.under_way.clear();
        }
        if !self.done.insert(planned.index) {
            // A second attempt is never repeated.
            if let Some(place) = self.again.iter().position(|result| *result == planned.result) {
                self.again.remove(place);
            }
        } else {
            if disturbed {
                self.again.push(planned.result);
            }
            if let Some(decided) = &mut self.decided {
                decided.finished += 1;
                decided.spent += Duration::from(self.plan.trial_estimate(planned.result));
            }
        }
    }

    pub fn skipped(&mut self, result: &str) {
        self.skipped.insert(result.to_owned());
    }

    pub fn decided(&mut self, decision: &DesignDecision) {
        self.decided = Some(Decided { decision: decision.clone(), finished: 0, spent: Duration::ZERO });
    }

    pub fn trials(&self) -> (usize, usize) {
        let finished = self.done.len();
        (finished, finished + self.trials_left())
    }

    pub fn to_make_again(&self) -> usize {
        self.again.len()
    }

    fn trials_left(&self) -> usize {
        match (&self.decided, self.plan.design.is_adaptive()) {
            (Some(decided), true) => decided.trials_left() as usize,
            _ => self.not_made().count(),
        }
    }

    fn not_made(&self) -> impl Iterator<Item = &PlannedTrial> {
        let is_skipped = |result: usize| self.skipped.contains(self.plan.results[result].id.as_str());
        let is_made = |it: &PlannedTrial| it.index < self.reached || self.done.contains(&it.index);
        self.plan.trials.iter().filter(move |it| !is_made(it) && !is_skipped(it.result))
    }

    fn expected(&self, result: usize) -> Duration {
        if let Some((count, taken)) = self.taken.get(&result) {
            return *taken / *count;
        }
        Duration::from(self.plan.trial_estimate(result)).mul_f64(self.slowness())
    }

    fn slowness(&self) -> f64 {
        let estimate = |result: usize| Duration::from(self.plan.trial_estimate(result)).as_secs_f64();
        let planned: f64 =
            self.taken.iter().map(|(result, (count, _))| estimate(*result) * f64::from(*count)).sum();
        let taken: f64 = self.taken.values().map(|(_, taken)| taken.as_secs_f64()).sum();
        if planned > 0.0 { taken / planned } else { 1.0 }
    }

    pub fn remaining(&self, now: Instant) -> Left {
        let is_open = self.plan.design.is_adaptive();
        let trials = self.trials_time(now);
        if self.measuring {
            return if is_open { Left::AtMost(trials) } else { Left::About(trials) };
        }
        match self.boots.remaining(now) {
            Ok(boots) if is_open => Left::AtMost(trials + boots),
            Ok(boots) => Left::About(trials + boots),
            Err(guests) => match self.boots.end {
                Some(end) => Left::About(end.saturating_duration_since(now)),
                None => Left::AfterBoots(trials, guests),
            },
        }
    }

    fn trials_time(&self, now: Instant) -> Duration {
        let under_way = self.under_way.first().map_or(Duration::ZERO, |(_, since)| now - *since);
        let again: Duration = self.again.iter().map(|result| self.expected(*result)).sum();
        let first = match self.decided.as_ref().filter(|_| self.plan.design.is_adaptive()) {
            Some(decided) => self.chosen_time(decided),
            None => {
                let all: Duration = self.not_made().map(|it| self.expected(it.result)).sum();
                let most = lab::forecast(&self.plan).map(|forecast| Duration::from(forecast.most));
                most.map_or(all, |most| all.min(most.mul_f64(self.slowness())))
            }
        };
        (first + again.min(lab::remake_allowance(&self.plan))).saturating_sub(under_way)
    }

    fn chosen_time(&self, decided: &Decided) -> Duration {
        let Decided { decision, spent, .. } = decided;
        let results = &self.plan.results;
        let is_open = |result: &usize| decision.open.iter().any(|open| open == results[*result].id.as_str());
        let open: Vec<Duration> =
            (0..results.len()).filter(is_open).map(|result| self.expected(result)).collect();
        let mean = open.iter().sum::<Duration>() / open.len().max(1) as u32;
        let learned = mean * decided.trials_left();
        let bound = Duration::from(decision.most_left).saturating_sub(*spent).mul_f64(self.slowness());
        learned.min(bound)
    }
}

impl Decided {
    fn trials_left(&self) -> u32 {
        self.decision.trials_left.saturating_sub(self.finished)
    }
}

impl Boots {
    /// Fails with the number of guests if none has booted yet.
    fn remaining(&self, now: Instant) -> Result<Duration, usize> {
        let left = self.guests.saturating_sub(self.taken.len());
        if left == 0 {
            return Ok(Duration::ZERO);
        }
        if self.taken.is_empty() {
            return Err(left);
        }
        let each = self.taken.iter().sum::<Duration>() / self.taken.len() as u32;
        let waiting = left.saturating_sub(self.under_way.len()) as u32;
        let rest = |since: &Instant| each.saturating_sub(now - *since);
        let all = self.under_way.values().map(rest).sum::<Duration>() + each * waiting;
        Ok(all / self.concurrent.max(1) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::{PlanOptions, builtin};

    fn pace(name: &str, trials: Option<u32>) -> (Pace, Scenario) {
        let scenario = Scenario::parse(name, builtin::find(name).expect("built in").text).expect("it parses");
        let mut plan = Plan::expand(&scenario, 1, &PlanOptions { trials, ..PlanOptions::default() });
        plan.design = samples::Design::default();
        (Pace::new(&scenario, &plan, BTreeSet::new()), scenario)
    }

    fn make(pace: &mut Pace, count: usize, each: Duration, mut now: Instant) -> Instant {
        let left: Vec<PlannedTrial> = pace.not_made().take(count).cloned().collect();
        for planned in left {
            pace.trial(&planned, now);
            now += each - Duration::from(pace.plan.pause);
            pace.trial_stored(planned.index, false, now);
            now += Duration::from(pace.plan.pause);
        }
        now
    }

    #[test]
    fn slow_trials_extend_remaining_time() {
        let (mut pace, _) = pace("quick", Some(5));
        pace.begin();
        let now = Instant::now();
        let Left::About(planned) = pace.remaining(now) else { panic!("a fixed plan") };
        assert!(planned.abs_diff(pace.plan.duration_estimate().into()) < Duration::from_millis(1));
        let each = Duration::from_secs(30);
        let now = make(&mut pace, 3, each, now);
        let (finished, all) = pace.trials();
        assert_eq!((finished, all), (3, pace.plan.trials.len()));
        let Left::About(left) = pace.remaining(now) else { panic!("a fixed plan") };
        let whole = each * (all - finished) as u32;
        assert!(left > whole / 2 && left < whole * 2, "{left:?} of {whole:?}");
        let rest = all - finished;
        let now = make(&mut pace, rest, each, now);
        assert_eq!(pace.remaining(now), Left::About(Duration::ZERO));
    }

    #[test]
    fn counts_trials_to_repeat_but_not_skipped_ones() {
        let (mut pace, _) = pace("quick", Some(5));
        pace.begin();
        let now = Instant::now();
        let first = pace.plan.trials[0].clone();
        pace.trial(&first, now);
        pace.trial_stored(first.index, true, now + Duration::from_secs(1));
        assert_eq!((pace.to_make_again(), pace.trials().0), (1, 1));
        pace.trial(&first, now);
        pace.trial_stored(first.index, true, now + Duration::from_secs(1));
        assert_eq!((pace.to_make_again(), pace.trials().0), (0, 1));
        let (_, before) = pace.trials();
        let id = pace.plan.results[first.result].id.to_string();
        pace.skipped(&id);
        assert!(pace.trials().1 < before);
    }

    #[test]
    fn estimates_boots_from_first_one_and_counts_them_before() {
        let (mut pace, scenario) = pace("vhost", Some(5));
        let (now, guests) = (Instant::now(), lab::guests(&scenario, &pace.plan));
        assert!(matches!(pace.remaining(now), Left::AfterBoots(_, of) if of == guests));
        pace.boots("vm1", now);
        pace.boots("vm2", now);
        pace.booted("vm1", Nanos::from_secs(40));
        let later = now + Duration::from_secs(40);
        let Left::About(left) = pace.remaining(later) else { panic!("known now") };
        let boots = left - pace.trials_time(later);
        // Two guests boot at a time, and the second guest should have booted by now.
        assert_eq!(boots, Duration::from_secs(40) * (guests as u32 - 2) / 2);
        pace.begin();
        assert_eq!(pace.remaining(later), Left::About(pace.trials_time(later)));
    }

    #[test]
    fn budget_limits_remaining_time_of_adaptive_run() {
        let (mut pace, _) = pace("quick", Some(5));
        pace.plan.design.budget = Some(Nanos::from_secs(60));
        pace.begin();
        let open = pace.plan.results.iter().map(|result| result.id.to_string()).collect();
        let decision = DesignDecision {
            block: Some(0),
            open,
            results: pace.plan.results.len() as u32,
            out_of_time: false,
            trials_left: 1000,
            most_left: Nanos::from_secs(60),
        };
        pace.decided(&decision);
        let now = Instant::now();
        assert_eq!(pace.remaining(now), Left::AtMost(Duration::from_secs(60)));
        let estimate = Duration::from(pace.plan.trial_estimate(pace.plan.trials[0].result));
        let now = make(&mut pace, 1, estimate * 3, now);
        let Left::AtMost(left) = pace.remaining(now) else { panic!("an upper limit") };
        assert!(
            left.abs_diff((Duration::from_secs(60) - estimate) * 3) < Duration::from_millis(1),
            "{left:?}"
        );
    }

    #[test]
    fn estimates_guest_boots_from_hypervisor_boot() {
        let (mut pace, scenario) = pace("vhost", Some(5));
        let now = Instant::now();
        pace.hypervisor_booted(&scenario, "hypervisor", Nanos::from_secs(20), now);
        let whole = Duration::from(lab::run_time(&scenario, &pace.plan, Nanos::from_secs(20), true));
        assert_eq!(pace.remaining(now), Left::About(whole - Duration::from_secs(20)));
    }
}
