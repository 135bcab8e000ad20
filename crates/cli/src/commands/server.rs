//! `plumb server`: serves plumb, iperf3 and sockperf clients until interrupted.

mod config;
mod flags;
mod hints;
mod words;

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use server::{Bound, Event, EventLog, LogTarget, Watcher};
use traffic::Stop;

pub(crate) use flags::ServerArgs;

use self::hints::Hints;
use crate::{exit::Exit, interrupt, output};

pub(crate) fn run(args: &ServerArgs) -> anyhow::Result<Exit> {
    args.ignored.note();
    args.log_file.redirect()?;
    let config = config::config(args)?;
    let mut bound = Bound::new(&config).context("cannot serve")?;
    // Drop privileges before starting threads, because each thread has its own privileges.
    if !args.rights.unconfined {
        bound.confine(args.rights.user.as_deref()).context("cannot drop privileges")?;
    }
    let stop = Stop::new();
    interrupt::set_on_signal(&stop.flag())?;
    let log = EventLog::start(write).context("cannot start a thread")?;
    let (json, failed) = (args.operation.json, AtomicBool::new(false));
    let printer = EventPrinter { json, failed, log, hints: Hints::default() };
    bound.serve(&stop, &printer).context("cannot serve")?;
    let failed = args.operation.once && printer.failed.load(Ordering::Relaxed);
    Ok(if failed { Exit::Failure } else { Exit::Success })
}

struct EventPrinter {
    json: bool,
    failed: AtomicBool,
    log: EventLog,
    hints: Hints,
}

impl Watcher for EventPrinter {
    fn event(&self, event: Event<'_>) {
        if let Event::Ends { report, .. } = &event
            && report.failure.is_some()
        {
            self.failed.store(true, Ordering::Relaxed);
        }
        if let Event::Trouble { error } = &event {
            self.log.write_some(LogTarget::Stderr, format!("error: {error}"));
        }
        // JSON documents are results, so only the log quota per address limits them.
        if self.json
            && let Some(document) = server::document(&event)
        {
            self.document(&event, document);
        } else if let Some(line) = words::line(&event) {
            let target = if self.json { LogTarget::Stderr } else { LogTarget::Stdout };
            self.log.write_some(target, line);
        }
        if let Some(hint) = self.hints.after(&event) {
            self.log.write_some(LogTarget::Stderr, hint);
        }
    }
}

impl EventPrinter {
    fn document(&self, event: &Event<'_>, document: String) {
        if let Event::Ends { client, .. } = event {
            self.log.write_document(client.peer.ip(), document);
        }
    }
}

/// Ignores write errors, because the server must keep running even if nothing reads its output.
fn write(target: LogTarget, line: &str) {
    match target {
        LogTarget::Stdout => drop(output::line(line)),
        LogTarget::Stderr => output::aside(line),
    }
}
