//! Observes traffic: prints progress lines, keeps partial results in case of an interruption, and reads the machine's
//! CPU time at the start and the end.

use std::{cell::RefCell, io};

use ::workload::{Interval, PingPongInterval};
use console::Term;
use probe::CpuReading;
use samples::MachineCpu;
use traffic::{FlowId, Observer, Progress};
use units::Nanos;

use crate::{
    live::{LatestRoundTrips, StatusLine, StreamLines, connect, ping_pong},
    live_view, output, width,
};

/// An interval longer than any measurement, so that there is only one line.
const ALL: Nanos = Nanos::from_secs(1_000_000_000);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lines {
    None,
    Stream { every: Nanos, connections: u32 },
    PingPong,
    Connect { every: Nanos, warmup: Nanos },
}

pub(crate) struct Watch {
    lines: Lines,
    prefix: String,
    state: RefCell<TrafficState>,
}

struct TrafficState {
    stream: StreamLines,
    totals: StreamLines,
    round_trips: PingPongInterval,
    connects: connect::ConnectLines,
    before: Option<CpuReading>,
    cpu: MachineCpu,
    broken: Option<io::Error>,
    status: Option<StatusLine>,
    latest: Option<LatestRoundTrips>,
    is_passing: bool,
}

impl Watch {
    pub(crate) fn new(lines: Lines, prefix: String) -> Self {
        let (every, connections) = match lines {
            Lines::Stream { every, connections } => (every, connections),
            _ => (Nanos(0), 1),
        };
        let (connect, warmup) = match lines {
            Lines::Connect { every, warmup } => (every, warmup),
            _ => (Nanos(0), Nanos(0)),
        };
        let state = TrafficState {
            stream: StreamLines::new(every, connections),
            totals: StreamLines::new(ALL, u32::MAX),
            round_trips: PingPongInterval::default(),
            connects: connect::ConnectLines::new(connect, warmup),
            before: None,
            cpu: MachineCpu::default(),
            broken: None,
            status: None,
            latest: None,
            is_passing: false,
        };
        Self { lines, prefix, state: RefCell::new(state) }
    }

    pub(crate) fn with_status(self, whole: Option<Nanos>) -> Self {
        if Term::stdout().is_term() && live_view::is_watched() {
            let mut state = self.state.borrow_mut();
            if self.lines == Lines::PingPong {
                state.latest = Some(LatestRoundTrips::default());
            } else {
                state.status = Some(StatusLine::new(whole));
            }
        }
        self
    }

    pub(crate) fn summarise(&self, text: &str) -> io::Result<()> {
        if self.lines != Lines::None {
            self.print("\n")?;
        }
        text.lines()
            .try_for_each(|line| output::coloured(&format!("{}{line}\n", output::harmless(&self.prefix))))
    }

    pub(crate) fn cpu(&self) -> MachineCpu {
        self.state.borrow().cpu.clone()
    }

    pub(crate) fn print(&self, text: &str) -> io::Result<()> {
        text.lines().try_for_each(|line| output::line(format_args!("{}{line}", self.prefix)))
    }

    pub(crate) fn print_partial(&self, totals: &[String]) -> io::Result<()> {
        if totals.is_empty() {
            return self.print("interrupted before any data was measured");
        }
        self.print("interrupted; partial local results:")?;
        totals.iter().try_for_each(|line| self.print(line))
    }

    pub(crate) fn totals(&self) -> Vec<String> {
        let mut state = self.state.borrow_mut();
        let mut lines = state.totals.rest();
        if state.round_trips.round_trips.count() > 0 {
            lines.push(ping_pong::line(&state.round_trips));
        }
        lines.extend(state.connects.total());
        lines
    }

    pub(crate) fn end(&self) -> io::Result<()> {
        let mut rest = self.state.borrow_mut().stream.rest();
        if matches!(self.lines, Lines::Connect { .. }) {
            rest.extend(self.state.borrow_mut().connects.rest());
        }
        (self.state.borrow_mut().status, self.state.borrow_mut().latest) = (None, None);
        self.show(rest);
        self.state.borrow_mut().broken.take().map_or(Ok(()), Err)
    }

    fn pass(&self, status: Option<String>) {
        if let Some(status) = status {
            output::passing(&status);
            self.state.borrow_mut().is_passing = true;
        }
    }

    fn show(&self, lines: Vec<String>) {
        let room = width::of_output().map(|width| width.saturating_sub(self.prefix.chars().count()));
        if std::mem::take(&mut self.state.borrow_mut().is_passing) {
            output::erase();
        }
        for line in lines {
            if let Err(error) = self.print(&width::fit(&line, room)) {
                // Report the error after the measurement.
                let _ = self.state.borrow_mut().broken.get_or_insert(error);
            }
        }
    }
}

impl Observer for Watch {
    fn started(&self) {
        self.state.borrow_mut().before = CpuReading::now().ok();
    }

    fn progress(&self, progress: Progress) {
        let lines = self.state.borrow_mut().connects.take(&progress);
        if matches!(self.lines, Lines::Connect { .. }) {
            self.show(lines.into_iter().collect());
        }
    }

    fn interval(&self, flow: FlowId, interval: &Interval) {
        let (lines, status) = {
            let mut state = self.state.borrow_mut();
            let _ = state.totals.take(flow, interval);
            let room = width::of_notices().unwrap_or_default();
            let status = state.status.as_mut().and_then(|status| status.take(interval, room));
            (state.stream.take(flow, interval), status)
        };
        if !lines.is_empty() {
            self.show(lines);
        }
        self.pass(status);
    }

    fn ping_interval(&self, interval: &PingPongInterval) {
        if !interval.warmup {
            let mut state = self.state.borrow_mut();
            let all = &mut state.round_trips;
            if all.round_trips.count() == 0 {
                all.start = interval.start;
            }
            all.end = interval.end;
            all.lost += interval.lost;
            all.round_trips.merge(&interval.round_trips);
        }
        if self.lines == Lines::PingPong {
            self.show(vec![ping_pong::line(interval)]);
        }
        let room = width::of_notices().unwrap_or_default();
        let status = self.state.borrow_mut().latest.as_mut().map(|latest| latest.take(interval, room));
        self.pass(status);
    }

    fn ended(&self) {
        let mut state = self.state.borrow_mut();
        if let (Some(before), Ok(now)) = (&state.before, CpuReading::now()) {
            state.cpu = now.since(before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Bytes;
    use workload::Direction;

    #[test]
    fn prints_one_line_per_connection_when_interrupted() {
        let watch = Watch::new(Lines::None, String::new());
        for (id, tenth) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            let flow = FlowId { id, direction: Direction::Reverse, sends: false };
            let (start, end) = (Nanos::from_millis(tenth * 100), Nanos::from_millis(tenth * 100 + 100));
            let bytes = Bytes(12_500_000);
            watch.interval(flow, &Interval { start, end, bytes, warmup: false, tcp: None, datagrams: None });
        }
        let totals = watch.totals();
        assert_eq!(totals.len(), 3, "two and their sum: {totals:?}");
        assert!(totals[2].contains("0.0-0.2 s") && totals[2].contains("2.00 Gbit/s"), "{totals:?}");
    }

    #[test]
    fn excludes_warm_up_round_trips_from_totals() {
        let watch = Watch::new(Lines::None, String::new());
        for (second, warmup) in [(0, true), (1, false), (2, false)] {
            let mut interval = PingPongInterval { warmup, ..PingPongInterval::default() };
            (interval.start, interval.end) = (Nanos::from_secs(second), Nanos::from_secs(second + 1));
            interval.round_trips.record(Nanos(50_000));
            watch.ping_interval(&interval);
        }
        let totals = watch.totals();
        assert!(totals.len() == 1 && totals[0].contains("1.0-3.0 s         2 round trips"), "{totals:?}");
    }
}
