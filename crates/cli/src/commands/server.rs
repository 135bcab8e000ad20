//! `plumb server`: serves plumb's, iperf3's and sockperf's clients until it is told to end.

mod config;
mod document;
mod flags;
mod words;

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use traffic::{
    Stop,
    door::{self, Event, Watcher},
};

pub(crate) use flags::ServerArgs;

use crate::{exit::Exit, interrupt, say};

/// Serves.
pub(crate) fn run(args: &ServerArgs) -> anyhow::Result<Exit> {
    let config = config::config(args)?;
    let stop = Stop::new();
    interrupt::asks(&stop.flag())?;
    let teller = Teller { json: args.course.json, failed: AtomicBool::new(false) };
    door::serve(&config, &stop, &teller).context("cannot serve")?;
    let failed = args.course.once && teller.failed.load(Ordering::Relaxed);
    Ok(if failed { Exit::Failure } else { Exit::Success })
}

/// Tells what the server did.
struct Teller {
    json: bool,
    /// Whether any client's test did not end as it should have.
    failed: AtomicBool,
}

impl Watcher for Teller {
    fn event(&self, event: Event<'_>) {
        if let Event::Ends { report, .. } = &event
            && report.failure.is_some()
        {
            self.failed.store(true, Ordering::Relaxed);
        }
        if let Event::Trouble { error } = &event {
            say::aside(format_args!("trouble: {error}"));
        }
        // A reader that is gone does not end a server.
        if !self.json {
            let _ = words::line(&event).map(say::line);
        } else if let Some(document) = document::line(&event) {
            let _ = say::line(document);
        } else if let Some(line) = words::line(&event) {
            say::aside(line);
        }
    }
}
