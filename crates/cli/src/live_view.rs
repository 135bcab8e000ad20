//! Shows a run on a terminal: its path, current trial, results, findings and log.

mod colours;
mod draw;
mod path;
mod results;
mod screen;

use std::{
    collections::BTreeSet,
    io,
    sync::mpsc::channel,
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use console::Term;
use lab::{Event, Stop};
use samples::RunRecord;
use scenario::{Plan, Scenario};
use watch::{LiveRun, State, cpu_time};

use self::{colours::Colours, screen::Screen};
use crate::output;

const LEAST: (u16, u16) = (80, 24);

pub(crate) struct LiveView {
    run: Option<(LiveRun, JoinHandle<Duration>)>,
    started: Instant,
}

pub(crate) fn is_possible() -> bool {
    let size = Term::stderr().size_checked();
    is_watched() && size.is_some_and(|(rows, columns)| columns >= LEAST.0 && rows >= LEAST.1)
}

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
            cpu_time()
        });
        Ok(Self { run: Some((LiveRun::new(to, resume), thread)), started })
    }

    pub(crate) fn event(&mut self, event: &Event<'_>) {
        if let Some((run, _)) = &mut self.run {
            run.event(event);
        }
    }

    pub(crate) fn notice(&mut self, text: &str) {
        if let Some((run, _)) = &mut self.run {
            run.notice(text);
        }
    }

    pub(crate) fn end(&mut self) {
        let Some((run, thread)) = self.run.take() else { return };
        let analyses = run.analyses();
        let lines = run.into_lines();
        let Ok(drawing) = thread.join() else { return };
        lines.iter().for_each(output::aside);
        let (all, time) = (drawing + analyses, self.started.elapsed());
        let share = all.as_secs_f64() / time.as_secs_f64() * 100.0;
        output::aside(format_args!(
            "the live view used {:.0} ms of CPU time in {:.0} s ({share:.1} % of a CPU), {:.0} ms of it \
                between trials",
            all.as_secs_f64() * 1e3,
            time.as_secs_f64(),
            analyses.as_secs_f64() * 1e3
        ));
    }
}

impl Drop for LiveView {
    fn drop(&mut self) {
        self.end();
    }
}
