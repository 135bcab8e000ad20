//! The live state of a run. The run's thread sends events and analyses the results between trials. Another
//! thread may keep and draw the [`State`].

mod pace;
mod state;

use std::{
    sync::mpsc::Sender,
    time::{Duration, Instant},
};

use lab::Event;
use samples::{Disturber, RunRecord, Trial, ValidityWarning};

pub use self::{
    pace::Left,
    state::{Boot, Current, Message, State, Tone, mark, one_line},
};

/// Minimum time between analyses, as a multiple of the last analysis's duration. Limits analyses to 1/50 of the run's
/// time.
const BETWEEN: u32 = 50;

#[derive(Debug)]
pub struct LiveRun {
    to: Sender<Message>,
    record: Option<RunRecord>,
    analysed: Option<(Instant, Duration)>,
    analyses: Duration,
    lines: Vec<String>,
    disturbed: u32,
}

#[must_use]
pub fn cpu_time() -> Duration {
    Duration::from_nanos(sys::clock::thread_cpu())
}

impl LiveRun {
    #[must_use]
    pub fn new(to: Sender<Message>, resume: Option<&RunRecord>) -> Self {
        let record = resume.cloned();
        let mut run =
            Self { to, record, analysed: None, analyses: Duration::ZERO, lines: Vec::new(), disturbed: 0 };
        run.analyse();
        run
    }

    pub fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Step(step) => self.send(Message::Step((*step).to_owned())),
            Event::Boots { host } => self.send(Message::Boots((*host).to_owned())),
            Event::Booted { host, within } => self.send(Message::Booted((*host).to_owned(), *within)),
            Event::Begun(header) => {
                self.lines
                    .push(format!("run {} (seed {}, {} trials)", header.id, header.seed, header.planned));
                match &mut self.record {
                    Some(record) => record.header = (*header).clone(),
                    None => {
                        let header = (*header).clone();
                        self.record = Some(RunRecord::new(header, Vec::new()));
                    }
                }
                self.send(Message::Begun(header.id.to_string()));
            }
            Event::Trial { planned, .. } => self.send(Message::Trial((*planned).clone())),
            Event::Rate { elapsed, rate } => self.send(Message::Rate(*elapsed, (*rate).clone())),
            Event::Decided(decision) => self.send(Message::Decided((*decision).clone())),
            Event::Kept(trial) => self.trial_stored(trial),
            Event::Skipped(skip) => {
                self.lines.push(format!("skipped {}: {}", skip.result, skip.reason));
                let (result, reason) = (skip.result.clone(), skip.reason.clone());
                self.send(Message::Skipped { result, reason });
            }
            Event::Notice(text) => self.notice(text),
        }
    }

    /// Shows a notice, and prints it again after the live view has ended.
    pub fn notice(&mut self, text: &str) {
        self.lines.push(format!("note: {text}"));
        self.send(Message::Notice(text.to_owned()));
    }

    fn trial_stored(&mut self, trial: &Trial) {
        let disturbed = trial.warnings.iter().find_map(|warning| match warning {
            ValidityWarning::Disturbed { processes, .. } => Some(Disturber::all(processes)),
            _ => None,
        });
        let of_others = |reason: &ValidityWarning| matches!(reason, ValidityWarning::Disturbed { .. });
        let made_again = trial.discarded.iter().any(|attempt| of_others(&attempt.reason));
        self.disturbed += u32::from(disturbed.is_some());
        self.send(Message::Kept { index: trial.index, disturbed, made_again });
        if let Some(record) = &mut self.record {
            record.trials.retain(|other| other.index != trial.index);
            record.trials.push(trial.clone());
        }
        self.analyse();
    }

    fn analyse(&mut self) {
        let is_soon = |(ended, took): (Instant, Duration)| ended.elapsed() < took * BETWEEN;
        let Some(record) = self.record.as_ref().filter(|record| !record.trials.is_empty()) else { return };
        if self.analysed.is_some_and(is_soon) {
            return;
        }
        let (start, before) = (Instant::now(), cpu_time());
        let findings = analysis::analyse(record);
        let (results, findings) = (report::live_results(&findings), report::live_findings(&findings));
        self.analysed = Some((Instant::now(), start.elapsed()));
        self.analyses += cpu_time().saturating_sub(before);
        self.send(Message::Analysed(self.analyses));
        self.send(Message::Results { results, findings });
    }

    fn send(&self, message: Message) {
        // The run must continue even if the terminal was closed.
        let _ = self.to.send(message);
    }

    #[must_use]
    pub fn analyses(&self) -> Duration {
        self.analyses
    }

    #[must_use]
    pub fn into_lines(mut self) -> Vec<String> {
        if self.disturbed > state::NAMED {
            let disturbed = self.disturbed;
            self.lines.push(format!("note: {disturbed} trial attempts were disturbed by other processes"));
        }
        self.lines
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, sync::mpsc::channel};

    use samples::SkippedResult;
    use scenario::{Plan, PlanOptions, Scenario, builtin};

    use super::*;

    const RECORD: &str = include_str!("../../analysis/tests/golden/egress.run.json");

    /// Parses a printed value into base units. Also returns half a unit of the last digit.
    fn printed(text: &str) -> (f64, f64) {
        let (number, unit) = text.split_once(' ').expect("a number and a unit");
        let factor = [("Gbit/s", 1e9), ("Mbit/s", 1e6), ("ms", 1e6), ("µs", 1e3)]
            .into_iter()
            .find_map(|(name, factor)| (unit == name).then_some(factor));
        let factor = factor.unwrap_or_else(|| panic!("{text}"));
        let decimals = number.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        (number.parse::<f64>().expect(text) * factor, 0.5 * factor / 10f64.powi(decimals as i32))
    }

    #[test]
    fn changes_match_the_printed_values_and_the_report() {
        let record: RunRecord = serde_json::from_str(RECORD).expect("a record");
        let (to, messages) = channel();
        let _ = LiveRun::new(to, Some(&record));
        let results = messages.try_iter().find_map(|message| match message {
            Message::Results { results, .. } => Some(results),
            _ => None,
        });
        let (results, mut changes) = (results.expect("a record with trials is analysed"), 0);
        let findings = analysis::analyse(&record);
        let page = report::render(&findings, None, report::Format::Markdown, &report::Options::default());
        let page = page.replace('\u{a0}', " ");
        for (live, result) in results.iter().zip(&findings.results) {
            let shown = format!("{} ({})", live.value, live.range.as_deref().expect("an interval"));
            let path = format!("| **{}**", result.path);
            let mut rows = page.lines().filter(|line| line.starts_with(&path) && line.contains(&shown));
            let judgement = live.step.as_ref().map(|step| step.judgement);
            let judged = [
                ("not significant", judgement == Some(report::Judgement::NotSignificant)),
                ("unclear", judgement == Some(report::Judgement::Unclear)),
            ];
            let is_same = |row: &str| judged.iter().all(|(word, is_shown)| row.contains(word) == *is_shown);
            assert!(rows.any(is_same), "{live:?} is not in {page}");
            let is_baseline =
                |(_, it): &(_, &findings::ResultSummary)| it.baseline && it.workload == result.workload;
            let baseline = results.iter().zip(&findings.results).find(is_baseline).expect("a baseline").0;
            let Some(step) = &live.step else { continue };
            let ((own, half), (reference, of_reference)) = (printed(&live.value), printed(&baseline.value));
            let change = step.change.replace('−', "-");
            let change: f64 = change.strip_suffix(" %").expect("a percentage").parse().expect("a number");
            let low = ((own - half) / (reference + of_reference) - 1.0) * 100.0;
            let high = ((own + half) / (reference - of_reference) - 1.0) * 100.0;
            assert!((low - 0.05..=high + 0.05).contains(&change), "{live:?} of {baseline:?}");
            let decimals = step.change.split_once('.').map_or(0, |(_, rest)| rest.len() - " %".len());
            assert!(decimals <= 1, "three digits support no further decimal: {step:?}");
            changes += 1;
        }
        assert!(changes >= 5, "{changes} changes");
    }

    #[test]
    fn events_update_state_without_terminal() {
        let text = builtin::find("quick").expect("built in").text;
        let scenario = Scenario::parse("quick", text).expect("it parses");
        let plan = Plan::expand(&scenario, 1, &PlanOptions::default());
        let (to, messages) = channel();
        let mut run = LiveRun::new(to, None);
        let result = plan.results[0].id.to_string();
        let skip = SkippedResult { result: result.clone(), reason: "no vhost".to_owned() };
        for event in [Event::Step("creating the lab"), Event::Skipped(&skip), Event::Notice("waiting")] {
            run.event(&event);
        }
        let now = Instant::now();
        let mut state = State::new(&scenario, &plan, BTreeSet::new(), false, now);
        messages.try_iter().for_each(|message| state.take(message, now));
        assert_eq!(state.step, "creating the lab");
        assert!(state.skipped.contains(&result), "{state:?}");
        let log: Vec<&str> = state.log.iter().map(|entry| entry.text.as_str()).collect();
        let skipped = format!("skipped {result}: no vhost");
        assert_eq!(log, [skipped.as_str(), "waiting"]);
        assert_eq!(run.into_lines(), [skipped, "note: waiting".to_owned()]);
    }
}
