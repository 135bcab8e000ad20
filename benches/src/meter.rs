//! Measures a stream's bytes at the receiving device and the machine's CPU time, without the start and end of the
//! transfer.

use std::{
    thread,
    time::{Duration, Instant},
};

use anyhow::ensure;

use crate::{
    cpu::CpuTimes,
    process::Running,
    wire::{End, Wire, received},
};

const BEGUN: u64 = 1 << 20;

const PATIENCE: Duration = Duration::from_secs(10);
const GLANCE: Duration = Duration::from_millis(1);

/// The meter skips this time at the start, while windows and buffers grow, and `ENDING` before the end.
const GROWING: Duration = Duration::from_millis(250);
const ENDING: Duration = Duration::from_millis(50);

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Window {
    pub(crate) seconds: f64,
    pub(crate) bytes: f64,
    pub(crate) busy: f64,
}

impl Window {
    pub(crate) fn gbits_per_second(&self) -> f64 {
        self.bytes * 8.0 / 1e9 / self.seconds
    }

    pub(crate) fn gbits_per_cpu(&self) -> f64 {
        self.bytes * 8.0 / 1e9 / self.busy
    }

    pub(crate) fn cpu_seconds_per_gb(&self) -> f64 {
        self.busy / (self.bytes / 1e9)
    }
}

pub(crate) fn watch(
    wire: &Wire,
    before: u64,
    lasts: Duration,
    client: &mut Running,
) -> anyhow::Result<Window> {
    wire.run_at(End::Server, || {
        let waiting = Instant::now();
        while received()? < before + BEGUN {
            ensure!(client.is_running(), "the client exited before it sent");
            ensure!(waiting.elapsed() < PATIENCE, "nothing arrived for {} s", PATIENCE.as_secs());
            thread::sleep(GLANCE);
        }
        let begin = Instant::now();
        thread::sleep(GROWING);
        let first = Reading::now()?;
        thread::sleep((lasts - ENDING).saturating_sub(begin.elapsed()));
        let window = Reading::now()?.since(&first);
        ensure!(window.bytes > 0.0 && window.busy > 0.0, "no data in {:.2} s", window.seconds);
        Ok(window)
    })
}

struct Reading {
    at: Instant,
    bytes: u64,
    cpu: CpuTimes,
}

impl Reading {
    fn now() -> anyhow::Result<Self> {
        Ok(Self { at: Instant::now(), bytes: received()?, cpu: CpuTimes::read()? })
    }

    fn since(&self, before: &Self) -> Window {
        let seconds = self.at.duration_since(before.at).as_secs_f64();
        let bytes = (self.bytes - before.bytes) as f64;
        Window { seconds, bytes, busy: self.cpu.busy_since(&before.cpu, seconds) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn window_has_rate_and_cost() {
        let window = Window { seconds: 0.5, bytes: 2e9, busy: 0.8 };
        assert!((window.gbits_per_second() - 32.0).abs() < 1e-9);
        assert!((window.gbits_per_cpu() - 20.0).abs() < 1e-9);
        assert!((window.cpu_seconds_per_gb() - 0.4).abs() < 1e-9);
    }
}
