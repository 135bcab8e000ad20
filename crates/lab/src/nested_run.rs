//! Runs a scenario for a controller on another machine, which receives all records and events.

use std::{
    io::{Read, Write},
    path::Path,
    thread,
};

use parking_lot::Mutex;
use protocol::{ChannelError, Commission, FromNestedRun, Hello, Receiver, RunEvent, Sender, ToNestedRun};
use samples::{MachineChange, ResultEnd, RunHeader, RunId, Sink, SkippedResult, Trial};
use scenario::Scenario;

use crate::{
    counted_run::counted_run,
    error::RunError,
    event::Event,
    request::{ExistingHostUse, InsideHypervisor, Request},
    run::{Outcome, run},
    stop::Stop,
    timeout_factors::TimeoutFactors,
};

/// `agent` is the agent program, and `tool` is its version.
///
/// # Errors
/// Fails if the channel breaks or the protocol versions differ. A failure of the run is reported to the
/// controller instead.
pub fn nested_run<R, W>(from: R, to: W, agent: &Path, tool: &str) -> Result<(), ChannelError>
where
    R: Read + Send + 'static,
    W: Write + Send,
{
    let mut from = Receiver::new(from);
    let outside = Outside { to: Mutex::new(Sender::new(to)) };
    outside.send(&FromNestedRun::Hello(Hello::new(tool)))?;
    let commission = loop {
        match from.receive()? {
            ToNestedRun::Hello(hello) => hello.accept()?,
            ToNestedRun::Start(commission) => break commission,
            ToNestedRun::Stop => return Ok(()),
        }
    };
    if commission.counts {
        let symbols = machine::guest_symbols();
        let symbols = symbols.map_err(|error| ChannelError::from(std::io::Error::other(error)))?;
        outside.send(&FromNestedRun::Symbols(symbols))?;
    }
    let stop = Stop::new();
    watch_for_stop(from, stop.clone());
    let last = match carry_out(&commission, agent, tool, &outside, &stop) {
        Ok(Outcome { completed, skipped, .. }) => FromNestedRun::Over { completed, skipped },
        Err(error) => {
            FromNestedRun::Failed { interrupted: error.is_interrupted(), reason: error.to_string() }
        }
    };
    outside.send(&last)
}

fn watch_for_stop<R: Read + Send + 'static>(mut from: Receiver<R>, stop: Stop) {
    thread::spawn(move || {
        while let Ok(message) = from.receive::<ToNestedRun>() {
            if message == ToNestedRun::Stop {
                break;
            }
        }
        stop.ask();
    });
}

fn carry_out<W: Write + Send>(
    commission: &Commission,
    agent: &Path,
    tool: &str,
    outside: &Outside<W>,
    stop: &Stop,
) -> Result<Outcome, RunError> {
    let timeout_factors = TimeoutFactors::of_hypervisor();
    let scenario = Scenario::parse("the run's scenario", &commission.text)
        .map_err(|diagnosis| RunError::Inside { reason: format!("{diagnosis:?}") })?;
    let request = Request {
        scenario: &scenario,
        text: &commission.text,
        plan: &commission.plan,
        id: commission.id.clone(),
        remedy_trials: commission.remedy_trials.as_ref(),
        resume: commission.resume.as_ref(),
        agent: agent.to_owned(),
        firecracker: None,
        tool,
        keep_disturbed: commission.keep_disturbed,
        hosts: ExistingHostUse::default(),
        fleet: None,
        attachments: std::sync::Arc::default(),
        inside: Some(InsideHypervisor { reason: &commission.reason, timeout_factors }),
    };
    let mut observer = |event: &Event<'_>| outside.forward(event);
    let run = if commission.counts { counted_run } else { run };
    run(&request, &mut &*outside, &mut observer, stop)
}

struct Outside<W> {
    to: Mutex<Sender<W>>,
}

impl<W: Write> Outside<W> {
    fn send(&self, message: &FromNestedRun) -> Result<(), ChannelError> {
        self.to.lock().send(message)
    }

    /// Ignores errors, because a broken channel also makes the sink fail, which ends the run.
    fn forward(&self, event: &Event<'_>) {
        if let Some(event) = run_event(event) {
            let _ = self.send(&FromNestedRun::Event(event));
        }
    }
}

fn run_event(event: &Event<'_>) -> Option<RunEvent> {
    Some(match *event {
        Event::Step(text) => RunEvent::Step { text: text.to_owned() },
        Event::Begun(_) => RunEvent::Begun,
        Event::Trial { planned, result } => {
            RunEvent::Trial { planned: planned.clone(), result: Box::new(result.clone()) }
        }
        Event::Rate { elapsed, rate } => {
            RunEvent::Rate { elapsed, per_second: rate.per_second, text: rate.text.clone() }
        }
        Event::Boots { host } => RunEvent::Boots { host: host.to_owned() },
        Event::Booted { host, within } => RunEvent::Booted { host: host.to_owned(), within },
        Event::Decided(decided) => RunEvent::Decided(decided.clone()),
        Event::Notice(text) => RunEvent::Notice { text: text.to_owned() },
        // The controller derives these events from the records.
        Event::Kept(_) | Event::Skipped(_) => return None,
    })
}

impl<W: Write> Sink for &Outside<W> {
    type Error = ChannelError;

    fn begin(&mut self, header: &RunHeader) -> Result<(), ChannelError> {
        self.send(&FromNestedRun::Begin(Box::new(header.clone())))
    }

    fn trial(&mut self, _: &RunId, trial: &Trial) -> Result<(), ChannelError> {
        machine::report_counted_window();
        self.send(&FromNestedRun::Trial(Box::new(trial.clone())))
    }

    fn skipped(&mut self, _: &RunId, skipped: &SkippedResult) -> Result<(), ChannelError> {
        self.send(&FromNestedRun::Skip(skipped.clone()))
    }

    fn ended(&mut self, _: &RunId, end: &ResultEnd) -> Result<(), ChannelError> {
        self.send(&FromNestedRun::End(end.clone()))
    }

    fn machine_changed(&mut self, _: &RunId, change: &MachineChange) -> Result<(), ChannelError> {
        self.send(&FromNestedRun::MachineChanged(Box::new(change.clone())))
    }

    fn complete(&mut self, _: &RunId) -> Result<(), ChannelError> {
        self.send(&FromNestedRun::Complete)
    }
}
