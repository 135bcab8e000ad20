//! The live view of a run on a terminal: the path, current trial, results, findings and log. The run's own thread
//! sends events, and analyses the results between trials. A separate thread draws the view.

mod colours;
mod draw;
mod pace;
mod path;
mod results;
mod screen;
mod state;

use std::{
    collections::BTreeSet,
    io,
    sync::mpsc::{Sender, channel},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use console::Term;
use lab::{Event, Stop};
use samples::{Disturber, RunRecord, Trial, ValidityWarning};
use scenario::{Plan, Scenario};

pub(crate) use self::state::mark;
use self::{
    colours::Colours,
    screen::Screen,
    state::{Message, State},
};
use crate::output;

const LEAST: (u16, u16) = (80, 24);
/// The minimum time between analyses, as a multiple of how long the last one took. This limits analyses to 1/50 of
/// the run.
const BETWEEN: u32 = 50;

pub(crate) struct LiveView {
    to: Option<Sender<Message>>,
    thread: Option<JoinHandle<Duration>>,
    record: Option<RunRecord>,
    analysed: Option<(Instant, Duration)>,
    analyses: Duration,
    started: Instant,
    lines: Vec<String>,
    disturbed: u32,
}

pub(crate) fn is_possible() -> bool {
    let size = Term::stderr().size_checked();
    is_watched() && size.is_some_and(|(rows, columns)| columns >= LEAST.0 && rows >= LEAST.1)
}

/// Whether standard error is a terminal with cursor control and this process is in the foreground.
pub(crate) fn is_watched() -> bool {
    let is_dumb = std::env::var("TERM").is_ok_and(|name| name == "dumb");
    Term::stderr().is_term() && !is_dumb && screen::is_in_foreground()
}

impl LiveView {
    pub(crate) fn start(
        scenario: &Scenario,
        plan: &Plan,
        resume: Option<&RunRecord>,
        keeps_disturbed: bool,
        stop: &Stop,
    ) -> io::Result<Self> {
        let started = Instant::now();
        let there: BTreeSet<u32> =
            resume.iter().flat_map(|record| &record.trials).map(|trial| trial.index).collect();
        let mut state = State::new(scenario, plan, there, keeps_disturbed, started);
        let mut screen = Screen::take()?;
        let (to, messages) = channel();
        let (stop, colours) = (stop.clone(), Colours(console::colors_enabled_stderr()));
        let thread = thread::spawn(move || {
            screen::show(&mut screen, &mut state, &messages, (&stop, colours));
            screen::cpu_time()
        });
        let mut view = Self {
            to: Some(to),
            thread: Some(thread),
            record: resume.cloned(),
            analysed: None,
            analyses: Duration::ZERO,
            started,
            lines: Vec::new(),
            disturbed: 0,
        };
        view.analyse();
        Ok(view)
    }

    pub(crate) fn event(&mut self, event: &Event<'_>) {
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

    /// Shows a notice that is printed again after the view ends.
    pub(crate) fn notice(&mut self, text: &str) {
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
            // This trial replaces an earlier attempt.
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
        let (start, before) = (Instant::now(), screen::cpu_time());
        let findings = analysis::analyse(record);
        let (results, findings) = (::report::live_results(&findings), ::report::live_findings(&findings));
        self.analysed = Some((Instant::now(), start.elapsed()));
        self.analyses += screen::cpu_time().saturating_sub(before);
        self.send(Message::Analysed(self.analyses));
        self.send(Message::Results { results, findings });
    }

    fn send(&self, message: Message) {
        if let Some(to) = &self.to {
            // A run continues even if the terminal was closed.
            let _ = to.send(message);
        }
    }

    pub(crate) fn end(&mut self) {
        self.to = None;
        let Some(thread) = self.thread.take() else { return };
        let Ok(drawing) = thread.join() else { return };
        self.lines.iter().for_each(output::aside);
        if self.disturbed > state::NAMED {
            output::aside(format_args!(
                "note: {} trial attempts were disturbed by other processes",
                self.disturbed
            ));
        }
        let (all, time) = (drawing + self.analyses, self.started.elapsed());
        let share = all.as_secs_f64() / time.as_secs_f64() * 100.0;
        output::aside(format_args!(
            "the live view used {:.0} ms of CPU time in {:.0} s ({share:.1} % of a CPU), {:.0} ms of it \
                between trials",
            all.as_secs_f64() * 1e3,
            time.as_secs_f64(),
            self.analyses.as_secs_f64() * 1e3
        ));
    }
}

impl Drop for LiveView {
    fn drop(&mut self) {
        self.end();
    }
}
