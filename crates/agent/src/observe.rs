//! Handles `observe` and `observed`. Probes are loaded on first use and are only active during a trial.

use parking_lot::Mutex;
use probe::{Probe, ProbeError, ProcessTimes, Watch};
use protocol::{Observation, ObserveOrder, Observing, Reply, Subject, Token};
use samples::{MissingProbe, ProbeKind};
use sys::clock::monotonic;
use units::Nanos;

use crate::refusal::Refusal;

pub(crate) type Maker = fn(ProbeKind) -> Result<Box<dyn Probe>, ProbeError>;

pub(crate) struct Probes {
    make: Maker,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    loaded: Vec<Box<dyn Probe>>,
    missing: Vec<MissingProbe>,
    watching: Option<Watching>,
    closed: bool,
}

struct Watching {
    token: Token,
    since: u64,
    kinds: Vec<ProbeKind>,
    processes: Option<ProcessTimes>,
}

impl Probes {
    pub(crate) fn new(make: Maker) -> Self {
        Self { make, state: Mutex::default() }
    }

    /// Starts the probes. The reply lists the probes that failed; the others continue.
    pub(crate) fn observe(&self, order: &ObserveOrder) -> Result<Reply, Refusal> {
        let mut state = self.state.lock();
        state.check()?;
        let watch = watch(order);
        let mut watching = Watching { token: order.token, since: 0, kinds: Vec::new(), processes: None };
        let mut missing = Vec::new();
        // Start in reverse order, so that the CPU time probe starts last and does not count the start of the other
        // probes.
        for kind in ProbeKind::ALL.into_iter().rev().filter(|kind| order.probes.contains(kind)) {
            match state.start(self.make, kind, &watch) {
                Ok(true) => watching.kinds.push(kind),
                Ok(false) => {}
                Err(probe) => missing.push(probe),
            }
        }
        watching.processes = ProcessTimes::from_now(watch.subjects).ok();
        watching.since = monotonic();
        state.watching = Some(watching);
        missing.reverse();
        Ok(Reply::Observing(Observing { missing }))
    }

    pub(crate) fn observed(&self, token: Token) -> Result<Reply, Refusal> {
        let mut state = self.state.lock();
        let Some(watching) = state.watching.take_if(|watching| watching.token == token) else {
            return Err(Refusal::new(format!("trial {token} is not being observed; send observe first")));
        };
        let mut seen = Observation::default();
        seen.observed.elapsed = Nanos(monotonic().saturating_sub(watching.since));
        seen.host = watching.processes.and_then(|processes| processes.until_now().ok());
        for kind in ProbeKind::ALL.into_iter().filter(|kind| watching.kinds.contains(kind)) {
            let Some(probe) = state.loaded.iter_mut().find(|probe| probe.kind() == kind) else { continue };
            if let Err(error) = probe.read(&mut seen.observed) {
                seen.unread.push(MissingProbe { probe: kind, reason: error.to_string() });
            }
        }
        state.stop();
        Ok(Reply::Observed(seen))
    }

    pub(crate) fn abandon(&self, token: Token) {
        let mut state = self.state.lock();
        if state.watching.take_if(|watching| watching.token == token).is_some() {
            state.stop();
        }
    }

    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        state.watching = None;
        state.loaded.clear();
    }
}

impl State {
    fn check(&self) -> Result<(), Refusal> {
        if self.closed {
            return Err(Refusal::over());
        }
        match &self.watching {
            Some(watching) => {
                let token = watching.token;
                Err(Refusal::new(format!("trial {token} is already being observed; abandon it first")))
            }
            None => Ok(()),
        }
    }

    /// Returns false if the probe has nothing to trace and is only loaded.
    fn start(&mut self, make: Maker, kind: ProbeKind, watch: &Watch) -> Result<bool, MissingProbe> {
        if let Some(known) = self.missing.iter().find(|missing| missing.probe == kind) {
            return Err(known.clone());
        }
        let begun = self.load(make, kind).and_then(|probe| match kind {
            ProbeKind::PacketWay if watch.latency_breakdown.is_none() => Ok(false),
            _ => probe.start(watch).map(|()| true),
        });
        begun.map_err(|error| {
            let missing = MissingProbe { probe: kind, reason: error.to_string() };
            // A failed probe is created again when it is next used.
            self.loaded.retain(|probe| probe.kind() != kind);
            if matches!(error, ProbeError::Unavailable { .. }) {
                self.missing.push(missing.clone());
            }
            missing
        })
    }

    fn load(&mut self, make: Maker, kind: ProbeKind) -> Result<&mut Box<dyn Probe>, ProbeError> {
        let place = match self.loaded.iter().position(|probe| probe.kind() == kind) {
            Some(place) => place,
            None => {
                self.loaded.push(make(kind)?);
                self.loaded.len() - 1
            }
        };
        Ok(&mut self.loaded[place])
    }

    fn stop(&mut self) {
        self.loaded.iter_mut().for_each(|probe| probe.stop());
    }
}

fn watch(order: &ObserveOrder) -> Watch {
    Watch {
        subjects: order.subjects.iter().flat_map(parts).collect(),
        latency_breakdown: order.latency_breakdown.clone(),
    }
}

fn parts(subject: &Subject) -> Vec<Subject> {
    if probe::is_machine(subject.consumer) { probe::machine(subject) } else { vec![subject.clone()] }
}

#[cfg(test)]
mod tests;
