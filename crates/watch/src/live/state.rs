//! The live view's model of a run, updated by messages.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    time::{Duration, Instant},
};

use protocol::DesignDecision;
use report::{LiveFinding, LiveResult};
use samples::Arm;
use scenario::{HostName, Path, Plan, PlannedTrial, Scenario};
use units::Nanos;
use workload::LiveRate;

use super::pace::Pace;

const RATES: usize = 200;
/// Maximum number of disturbed trials in the log. At the end, the log shows the total.
pub(super) const NAMED: u32 = 3;
const LOGGED: usize = 200;

#[derive(Debug, Clone)]
pub enum Message {
    Step(String),
    Boots(String),
    Booted(String, Nanos),
    Begun(String),
    Trial(PlannedTrial),
    Rate(Nanos, LiveRate),
    Kept { index: u32, disturbed: Option<String>, made_again: bool },
    Results { results: Vec<LiveResult>, findings: Vec<LiveFinding> },
    Skipped { result: String, reason: String },
    Decided(DesignDecision),
    Notice(String),
    Cost(Duration),
    Analysed(Duration),
    Ending,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Plain,
    Warning,
}

#[derive(Debug, Clone)]
pub struct Entry {
    pub at: Duration,
    pub tone: Tone,
    pub text: String,
}

#[derive(Debug, Clone)]
pub struct Boot {
    pub host: String,
    pub since: Instant,
    pub within: Option<Nanos>,
}

#[derive(Debug, Clone)]
pub struct Current {
    pub planned: PlannedTrial,
    pub concurrent: usize,
    pub elapsed: Nanos,
    pub rates: VecDeque<f64>,
    pub now: Option<String>,
}

#[derive(Debug)]
pub struct State {
    pub scenario: Scenario,
    pub plan: Plan,
    pub started: Instant,
    pub run: Option<String>,
    pub step: String,
    pub boots: Vec<Boot>,
    pub trial: Option<Current>,
    pub block: Option<u32>,
    pub results: BTreeMap<String, LiveResult>,
    pub skipped: BTreeSet<String>,
    pub findings: Vec<LiveFinding>,
    pub log: VecDeque<Entry>,
    pub pace: Pace,
    pub cost: Duration,
    pub analyses: Duration,
    pub is_ending: bool,
    pub scroll: Option<usize>,
    pub first_row: usize,
    keeps_disturbed: bool,
    disturbed: u32,
}

impl State {
    pub fn new(
        scenario: &Scenario,
        plan: &Plan,
        there: BTreeSet<u32>,
        keeps_disturbed: bool,
        now: Instant,
    ) -> Self {
        Self {
            scenario: scenario.clone(),
            plan: plan.clone(),
            started: now,
            run: None,
            step: String::new(),
            boots: Vec::new(),
            trial: None,
            block: None,
            results: BTreeMap::new(),
            skipped: BTreeSet::new(),
            findings: Vec::new(),
            log: VecDeque::new(),
            pace: Pace::new(scenario, plan, there),
            cost: Duration::ZERO,
            analyses: Duration::ZERO,
            is_ending: false,
            scroll: None,
            first_row: 0,
            keeps_disturbed,
            disturbed: 0,
        }
    }

    pub fn take(&mut self, message: Message, now: Instant) {
        match message {
            Message::Step(step) => (self.step, self.trial) = (step, None),
            Message::Boots(host) => self.boots(host, now),
            Message::Booted(host, within) => self.booted(&host, within, now),
            Message::Begun(run) => {
                self.pace.begin();
                self.run = Some(run);
            }
            Message::Trial(planned) => self.begin(planned, now),
            Message::Rate(elapsed, rate) => self.rate(elapsed, rate),
            Message::Kept { index, disturbed, made_again } => {
                self.trial_stored(index, disturbed, made_again, now);
            }
            Message::Results { results, findings } => {
                self.results = results.into_iter().map(|result| (result.result.clone(), result)).collect();
                self.findings = findings;
            }
            Message::Skipped { result, reason } => {
                self.pace.skipped(&result);
                self.say(Tone::Warning, &format!("skipped {result}: {reason}"), now);
                self.skipped.insert(result);
            }
            Message::Decided(decision) => self.decided(&decision, now),
            Message::Notice(text) => self.say(Tone::Plain, &text, now),
            Message::Cost(cost) => self.cost = cost,
            Message::Analysed(analyses) => self.analyses = analyses,
            Message::Ending => self.is_ending = true,
        }
    }

    fn boots(&mut self, host: String, now: Instant) {
        self.boots.retain(|boot| boot.host != host);
        if self.is_vm(&HostName::new(host.as_str())) {
            self.pace.boots(&host, now);
        }
        self.boots.push(Boot { host, since: now, within: None });
    }

    fn booted(&mut self, host: &str, within: Nanos, now: Instant) {
        if let Some(boot) = self.boots.iter_mut().find(|boot| boot.host == host) {
            boot.within = Some(within);
        }
        if self.is_vm(&HostName::new(host)) {
            self.pace.booted(host, within);
        } else {
            self.pace.hypervisor_booted(&self.scenario, host, within, now);
        }
    }

    fn begin(&mut self, planned: PlannedTrial, now: Instant) {
        self.pace.trial(&planned, now);
        self.block = Some(planned.block);
        // Show only the first of several concurrent trials.
        if let Some(first) = self.trial.as_mut().filter(|first| first.planned.is_simultaneous_with(&planned))
        {
            first.concurrent += 1;
            return;
        }
        let rates = VecDeque::with_capacity(RATES);
        self.trial = Some(Current { planned, concurrent: 0, elapsed: Nanos(0), rates, now: None });
    }

    fn rate(&mut self, elapsed: Nanos, rate: LiveRate) {
        let Some(trial) = &mut self.trial else { return };
        if trial.rates.len() == RATES {
            trial.rates.pop_front();
        }
        trial.rates.push_back(rate.per_second);
        (trial.elapsed, trial.now) = (elapsed, Some(rate.text));
    }

    fn trial_stored(&mut self, index: u32, disturbed: Option<String>, made_again: bool, now: Instant) {
        let to_make_again = disturbed.is_some() && !made_again && !self.keeps_disturbed;
        self.pace.trial_stored(index, to_make_again, now);
        let planned = self.plan.trials.iter().find(|planned| planned.index == index);
        let result = planned.map(|planned| self.plan.results[planned.result].id.to_string());
        if let (Some(by), Some(result)) = (disturbed, result) {
            let what = if to_make_again { "will be repeated at the end" } else { "kept" };
            self.disturbed += 1;
            let rest = if self.disturbed == NAMED { "; further repeats not shown" } else { "" };
            if self.disturbed <= NAMED {
                self.say(Tone::Warning, &format!("{result}: disturbed by {by}, {what}{rest}"), now);
            }
        }
    }

    fn decided(&mut self, decision: &DesignDecision, now: Instant) {
        self.pace.decided(decision);
        let (open, results) = (decision.open.len(), decision.results as usize);
        if !self.plan.design.is_adaptive() || open == results {
            return;
        }
        let text = match decision.block {
            _ if decision.out_of_time => "time budget used up".to_owned(),
            _ if open == 0 => "every comparison is decided".to_owned(),
            Some(block) => format!("block {}: {open} of {results} results still need trials", block + 1),
            None => return,
        };
        self.say(Tone::Plain, &text, now);
    }

    fn say(&mut self, tone: Tone, text: &str, now: Instant) {
        if self.log.len() == LOGGED {
            self.log.pop_front();
        }
        self.log.push_back(Entry { at: now - self.started, tone, text: one_line(text) });
    }

    pub fn path(&self) -> Option<&Path> {
        let of = |trial: &Current| &self.plan.results[trial.planned.result].path;
        let paths = &self.scenario.paths;
        match self.trial.as_ref().map(of) {
            Some(name) => paths.iter().find(|path| path.name == *name),
            None => paths.iter().find(|path| path.baseline).or(paths.first()),
        }
    }

    #[must_use]
    pub fn is_vm(&self, host: &HostName) -> bool {
        self.scenario.lab.vm(host).is_some()
    }
}

pub fn mark(arm: Arm) -> &'static str {
    match arm {
        Arm::Measure => "",
        Arm::Again => " (baseline repeat)",
        Arm::Probed => " (with probes)",
        Arm::Alone => " (alone)",
    }
}

pub fn one_line(text: &str) -> String {
    report::harmless(&text.replace(['\n', '\t'], " ")).into_owned()
}
