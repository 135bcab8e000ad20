//! Runs a trial that moves memory: prepares the guest, resizes it from outside, and restores it.

use std::time::Duration;

use memory::{Balloon, GuestAgent, MemoryError, Resident, Resize};
use protocol::{EndReport, MemoryOrder, MemoryReply, Order, Reply};
use samples::MachineCpu;
use scenario::HostName;
use units::{Bytes, Nanos};
use workload::{BalloonData, BalloonMove, BalloonSettings, EndMeasurement, KindSettings};

use crate::{
    agents::{Agents, SHORT, token},
    error::RunError,
    event::{Event, Observer},
    exchange::{Exchange, Reports},
    observer::Watcher,
    trial_runner::TrialRunner,
    vm_balloon::{VmBalloon, failed},
};

/// The timeout for orders that touch all guest memory. In an emulated machine on a busy host, this takes long.
const LONG: Duration = Duration::from_secs(300);
const SHOW_INTERVAL: Duration = Duration::from_millis(100);

struct VmAgent<'a> {
    host: &'a HostName,
    agents: &'a mut Agents,
    observer: &'a mut dyn Observer,
    load: &'a BalloonSettings,
    last_shown: Duration,
}

impl VmAgent<'_> {
    fn ask(&mut self, work: MemoryOrder) -> Result<MemoryReply, RunError> {
        let deadline = match work {
            MemoryOrder::Watch { .. } | MemoryOrder::Watched | MemoryOrder::Release => SHORT,
            _ => LONG,
        };
        match self.agents.ask(self.host, "move its memory", Order::Memory { work }, deadline)? {
            Reply::Memory { done } => Ok(done),
            other => Err(RunError::unexpected(self.host, &other)),
        }
    }

    fn touch(&mut self, memory: Bytes) -> Result<Nanos, RunError> {
        match self.ask(MemoryOrder::Touch { memory })? {
            MemoryReply::Touched { took } => Ok(took),
            other => Err(self.strange(&other)),
        }
    }

    fn watched(&mut self) -> Result<(Nanos, MachineCpu), RunError> {
        match self.ask(MemoryOrder::Watched)? {
            MemoryReply::Watched { damaged, guarded, .. } if damaged.0 > 0 => {
                Err(failed(self.host, MemoryError::Damaged { damaged, guarded }))
            }
            MemoryReply::Watched { longest_stall, machine, .. } => Ok((longest_stall, machine)),
            other => Err(self.strange(&other)),
        }
    }

    fn strange(&self, reply: &MemoryReply) -> RunError {
        RunError::unexpected(self.host, &Reply::Memory { done: reply.clone() })
    }

    fn prepare(&mut self, balloon: &mut dyn Balloon) -> Result<Bytes, RunError> {
        // Clean up after a failed trial.
        self.ask(MemoryOrder::Release)?;
        self.resize(balloon, Bytes(0))?;
        let load = self.load;
        match (load.direction, load.touched) {
            (BalloonMove::Shrink, true) => {
                self.ask(MemoryOrder::TouchFree)?;
                Ok(load.memory)
            }
            // The guest holds all other free memory. The returned memory has no pages on the host, so the trial takes
            // only untouched memory.
            (BalloonMove::Shrink, false) => {
                self.resize(balloon, load.memory)?;
                self.ask(MemoryOrder::Hold)?;
                self.resize(balloon, Bytes(0))?;
                Ok(load.memory)
            }
            // The guest holds all other free memory, so it touches exactly the memory that is returned.
            (BalloonMove::Grow, _) => {
                self.resize(balloon, load.memory)?;
                self.ask(MemoryOrder::Hold)?;
                Ok(Bytes(0))
            }
        }
    }

    fn resize(&mut self, balloon: &mut dyn Balloon, taken: Bytes) -> Result<Resize, RunError> {
        let host = self.host;
        memory::resize(balloon, self, taken).map_err(|error| failed(host, error))
    }
}

impl GuestAgent for VmAgent<'_> {
    fn take(&mut self, memory: Bytes) -> Result<Vec<u64>, MemoryError> {
        match self.ask(MemoryOrder::Take { memory }).map_err(of_guest)? {
            MemoryReply::Taken { blocks } => Ok(blocks),
            other => Err(of_guest(self.strange(&other))),
        }
    }

    fn give_back(&mut self, memory: Bytes) -> Result<(), MemoryError> {
        self.ask(MemoryOrder::GiveBack { memory }).map(drop).map_err(of_guest)
    }

    fn glance(&mut self, moved: Bytes, since: Duration) -> Result<(), MemoryError> {
        if since >= self.last_shown + SHOW_INTERVAL {
            self.last_shown = since;
            if let Some(rate) = self.load.live(moved, 0, since.into()) {
                self.observer.event(&Event::Rate { elapsed: since.into(), rate: &rate });
            }
        }
        if self.agents.is_stopped() { Err(MemoryError::Interrupted) } else { Ok(()) }
    }
}

fn of_guest(error: RunError) -> MemoryError {
    match error {
        RunError::Interrupted => MemoryError::Interrupted,
        error => MemoryError::Guest(error.to_string()),
    }
}

impl TrialRunner<'_> {
    fn find_balloon(&mut self, host: &HostName) -> Result<(), RunError> {
        if !self.balloons.contains_key(host) {
            let vm = self.lab_handle.lab.vm(host).cloned().unwrap_or_default();
            self.balloons.insert(host.clone(), VmBalloon::of(host, &vm, self.agents)?);
        }
        Ok(())
    }

    pub(crate) fn move_memory(
        &mut self,
        exchange: &Exchange<'_>,
        load: &BalloonSettings,
        observer: &mut dyn Observer,
    ) -> Result<Reports, RunError> {
        let host = &exchange.path.from.host;
        let ends = self.ends(exchange.path);
        self.find_balloon(host)?;
        let VmBalloon { method, balloon, resident } = self.balloons.get_mut(host).expect("just found");
        let mut agent = VmAgent { host, agents: self.agents, observer, load, last_shown: Duration::ZERO };
        let to = agent.prepare(&mut **balloon)?;
        let now = |resident: &Resident| resident.now().map_err(|error| failed(host, error));
        let resident_before = now(resident)?;
        self.watcher.as_mut().map_or(Ok(()), |watcher| watcher.begin(token(), exchange, 0, ends))?;
        agent.ask(MemoryOrder::Watch { compact: load.compact })?;
        let moved = agent.resize(&mut **balloon, to)?;
        let measures_touching = load.touched && load.direction == BalloonMove::Grow;
        let touching = if measures_touching { agent.touch(load.memory)? } else { Nanos(0) };
        let (stall, machine) = agent.watched()?;
        let seen = self.watcher.as_mut().map_or(Ok(None), Watcher::end)?;
        let resident_after = now(resident)?;
        agent.ask(MemoryOrder::Release)?;
        agent.resize(&mut **balloon, Bytes(0))?;
        let measured = EndMeasurement::Balloon(BalloonData {
            method: *method,
            direction: load.direction,
            moved: moved.moved,
            first: moved.first,
            elapsed: moved.elapsed + touching,
            touching,
            resident_before,
            resident_after,
            stall,
            intervals: moved.intervals,
        });
        let client = EndReport {
            measured,
            threads: Vec::new(),
            machine,
            softnet: None,
            stalled: Nanos(0),
            throttled: None,
        };
        Ok(Reports { client, server: None, seen })
    }
}
