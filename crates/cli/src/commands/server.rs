//! `plumb server`: serves plumb's, iperf3's and sockperf's clients until it is told to end.

mod config;
mod document;
mod flags;
mod hints;
mod log;
mod measure;
mod words;

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use anyhow::Context;
use server::{Event, Watcher};
use traffic::Stop;

pub(crate) use flags::ServerArgs;

use self::{
    hints::Hints,
    log::{Log, To},
    measure::Measure,
};
use crate::{exit::Exit, interrupt, say};

/// Serves.
pub(crate) fn run(args: &ServerArgs) -> anyhow::Result<Exit> {
    let config = config::config(args)?;
    let stop = Stop::new();
    interrupt::asks(&stop.flag())?;
    let log = Log::start(write).context("cannot start a thread")?;
    let teller = Teller {
        json: args.course.json,
        failed: AtomicBool::new(false),
        log,
        begun: Instant::now(),
        measure: Mutex::default(),
        hints: Hints::default(),
    };
    server::serve(&config, &stop, &teller).context("cannot serve")?;
    let failed = args.course.once && teller.failed.load(Ordering::Relaxed);
    Ok(if failed { Exit::Failure } else { Exit::Success })
}

/// Tells what the server did.
struct Teller {
    json: bool,
    /// Whether any client's test did not end as it should have.
    failed: AtomicBool,
    log: Log,
    begun: Instant,
    measure: Mutex<Measure>,
    hints: Hints,
}

impl Teller {
    /// Says a line, unless it is one of a crowd.
    fn say(&self, to: To, line: String) {
        let mut measure = self.measure.lock().unwrap_or_else(PoisonError::into_inner);
        if measure.allows(self.begun.elapsed()) { self.log.say(to, line) } else { self.log.miss() }
    }
}

impl Watcher for Teller {
    fn event(&self, event: Event<'_>) {
        if let Event::Ends { report, .. } = &event
            && report.failure.is_some()
        {
            self.failed.store(true, Ordering::Relaxed);
        }
        if let Event::Trouble { error } = &event {
            self.say(To::Aside, format!("trouble: {error}"));
        }
        // A document is a result, which no crowd of others takes away.
        if self.json
            && let Some(document) = document::line(&event)
        {
            self.log.say(To::Result, document);
        } else if let Some(line) = words::line(&event) {
            self.say(if self.json { To::Aside } else { To::Result }, line);
        }
        if let Some(hint) = self.hints.after(&event) {
            self.say(To::Aside, hint);
        }
    }
}

/// A reader that is gone does not end a server.
fn write(to: To, line: &str) {
    // Some of it is what a peer has sent.
    let line = say::harmless(line);
    match to {
        To::Result => drop(say::line(line)),
        To::Aside => say::aside(line),
    }
}
