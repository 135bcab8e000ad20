//! The open loop, which sends every message on schedule. Latency counts from the scheduled time, so a stall affects
//! every message it delays.

use std::{
    hint::spin_loop,
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::Duration,
};

use sys::clock::{monotonic, set_timer_slack, sleep_until};
use units::Nanos;
use workload::{LatencyHistogram, PingPongSettings, Waiting};

use super::{
    GRACE, OVERDUE,
    answer::{Answer, match_answer},
    cpu_set::CpuSet,
    message::Format,
    message_socket::{Arrival, Inbox, MessageSocket},
    recorder::Recorder,
    window::{Claim, Window},
};
use crate::{
    error::{Error, Result},
    refused::RefusalCode,
    socket::TICK,
    workers::SharedState,
};

/// The delay before the first message. It lets the receiver get ready.
const LEAD: Nanos = Nanos::from_millis(5);
const REMEMBERED: Nanos = Nanos::from_secs(4);
const LEAST: u64 = 1 << 16;
const MOST: u64 = 1 << 20;
const UNKNOWN: u64 = u64::MAX;

pub(super) struct Open<'a> {
    socket: &'a MessageSocket,
    load: &'a PingPongSettings,
    shared: &'a SharedState<'a>,
    period: u64,
    window: Window,
    begin: AtomicU64,
    sent: AtomicU64,
}

impl<'a> Open<'a> {
    pub(super) fn new(
        socket: &'a MessageSocket,
        load: &'a PingPongSettings,
        period: Nanos,
        shared: &'a SharedState<'a>,
    ) -> Self {
        let under_way = (REMEMBERED.0 / period.0).clamp(LEAST, MOST);
        let (begin, sent) = (AtomicU64::new(UNKNOWN), AtomicU64::new(UNKNOWN));
        Self { socket, load, shared, period: period.0, window: Window::new(under_way as usize), begin, sent }
    }

    fn count(&self) -> u64 {
        (self.load.warmup + self.load.duration).0.div_ceil(self.period)
    }

    fn first_measured(&self) -> u64 {
        self.load.warmup.0.div_ceil(self.period)
    }

    pub(super) fn send<F: Format>(&self, format: F) -> Result<(LatencyHistogram, CpuSet)> {
        set_timer_slack(1)?;
        let mut sender = Sender::default();
        let done = self.send_all(format, &mut sender);
        self.shared.ended(done)?;
        self.sent.store(sender.sent, Ordering::Release);
        Ok((sender.lateness, sender.seen))
    }

    fn send_all<F: Format>(&self, mut format: F, sender: &mut Sender) -> Result<()> {
        let begin = monotonic() + LEAD.0;
        self.begin.store(begin, Ordering::Release);
        let limit = begin + (self.load.warmup + self.load.duration + OVERDUE).0;
        let (mut due, mut wake, first) = (begin, begin, self.first_measured());
        for number in 0..self.count() {
            let now = self.await_time(due)?;
            if now >= wake {
                if now >= limit {
                    return Ok(());
                }
                self.shared.check()?;
                sender.seen.sample();
                wake = now + TICK.as_nanos() as u64;
            }
            let bytes = format.write(number);
            let now = monotonic();
            self.window.put(number, now - due);
            self.socket.send(bytes, || self.may_wait(limit))?;
            sender.sent = number + 1;
            if number >= first {
                sender.lateness.record(Nanos(now - due));
            }
            due += self.period;
        }
        Ok(())
    }

    #[inline]
    fn await_time(&self, due: u64) -> Result<u64> {
        let mut now = monotonic();
        while now < due {
            let until = due.min(now + TICK.as_nanos() as u64);
            match self.load.waiting {
                Waiting::Block => sleep_until(until),
                Waiting::Spin => spin(until),
            }
            now = monotonic();
            if now < due {
                self.shared.check()?;
            }
        }
        Ok(now)
    }

    fn may_wait(&self, limit: u64) -> Result<()> {
        self.shared.check()?;
        if monotonic() < limit + GRACE.0 {
            return Ok(());
        }
        let missing = "room to send".into();
        Err(Error::Silent { object: self.socket.name().into(), missing, waited: GRACE })
    }

    pub(super) fn begin(&self) -> Result<u64> {
        loop {
            match self.begin.load(Ordering::Acquire) {
                UNKNOWN => self.shared.check()?,
                begin => return Ok(begin),
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    pub(super) fn receive<F: Format>(
        &self,
        format: &F,
        notes: &mut Recorder<'_>,
    ) -> Result<LatencyHistogram> {
        let mut tally = Tally { begin: notes.warm() - self.load.warmup.0, ..Tally::default() };
        let done = self.receive_all(format, &mut tally, notes);
        self.shared.ended(done)?;
        Ok(tally.round_trips)
    }

    fn receive_all<F: Format>(&self, format: &F, tally: &mut Tally, notes: &mut Recorder<'_>) -> Result<()> {
        let mut inbox = self.socket.inbox(Some(self.load.message.0 as usize));
        loop {
            let now = self.next(format, &mut inbox, tally, notes)?;
            if now >= tally.wake {
                self.shared.check()?;
                tally.wake = now + TICK.as_nanos() as u64;
                self.sweep(now, tally, notes)?;
            }
            if self.is_done(now, tally, notes.odd())? {
                return self.settle(now, tally, notes);
            }
        }
    }

    #[inline]
    fn next<F: Format>(
        &self,
        format: &F,
        inbox: &mut Inbox,
        tally: &mut Tally,
        notes: &mut Recorder<'_>,
    ) -> Result<u64> {
        let arrival = self.socket.receive(inbox).map_err(self.socket.broken())?;
        let now = monotonic();
        match arrival {
            Arrival::Message(bytes) => {
                if let Some(answer) = match_answer(self.socket, format, &self.window, bytes, notes)? {
                    tally.settled += 1;
                    self.count_reply(&answer, now, tally, notes)?;
                }
            }
            Arrival::Nothing => {}
            Arrival::End => return Err(self.socket.ended(RefusalCode::Unspecified)),
        }
        Ok(now)
    }

    #[inline]
    fn count_reply(
        &self,
        answer: &Answer,
        now: u64,
        tally: &mut Tally,
        notes: &mut Recorder<'_>,
    ) -> Result<()> {
        let due = tally.begin + answer.number * self.period;
        if due >= notes.warm() {
            notes.answered(due, now)?;
            tally.round_trips.record(Nanos(now.saturating_sub(due + answer.late)));
        } else if notes.is_warming() {
            notes.answered(due, now)?;
        }
        Ok(())
    }

    fn sweep(&self, now: u64, tally: &mut Tally, notes: &mut Recorder<'_>) -> Result<()> {
        let overdue = now.saturating_sub(tally.begin + OVERDUE.0);
        if self.socket.is_stream() || overdue == 0 {
            return self.give_up(tally.oldest, now, tally, notes);
        }
        self.give_up((overdue / self.period).min(self.count()), now, tally, notes)
    }

    fn give_up(&self, limit: u64, now: u64, tally: &mut Tally, notes: &mut Recorder<'_>) -> Result<()> {
        let (mut lost, mut latest) = (self.window.overrun(), tally.oldest);
        tally.settled += lost;
        for number in tally.oldest..limit {
            if let Claim::Taken(_) = self.window.take(number) {
                tally.settled += 1;
                lost += u64::from(number >= self.first_measured() || notes.is_warming());
                latest = number;
            }
        }
        tally.oldest = tally.oldest.max(limit);
        if lost == 0 {
            return Ok(());
        }
        notes.lost(lost, tally.begin + latest * self.period, now)
    }

    /// Streams lose no messages, but a reply with a wrong number leaves another number without a reply.
    #[inline]
    fn is_done(&self, now: u64, tally: &mut Tally, odd: u64) -> Result<bool> {
        let sent = self.sent.load(Ordering::Acquire);
        if sent == UNKNOWN {
            return Ok(false);
        }
        let ended = *tally.ended.get_or_insert(now);
        if tally.settled >= sent {
            return Ok(true);
        }
        if !self.socket.is_stream() || sent - tally.settled <= odd {
            return Ok(now >= ended + OVERDUE.0);
        }
        if now < ended + GRACE.0 {
            return Ok(false);
        }
        let missing = "the last replies".into();
        Err(Error::Silent { object: self.socket.name().into(), missing, waited: GRACE })
    }

    fn settle(&self, now: u64, tally: &mut Tally, notes: &mut Recorder<'_>) -> Result<()> {
        let sent = self.sent.load(Ordering::Acquire);
        self.give_up(sent, now, tally, notes)?;
        let unsent = self.count() - sent.max(self.first_measured()).min(self.count());
        if unsent > 0 { notes.lost(unsent, notes.end(), now) } else { Ok(()) }
    }
}

fn spin(until: u64) {
    while monotonic() < until {
        spin_loop();
    }
}

#[derive(Default)]
struct Sender {
    sent: u64,
    lateness: LatencyHistogram,
    seen: CpuSet,
}

#[derive(Default)]
struct Tally {
    begin: u64,
    wake: u64,
    oldest: u64,
    settled: u64,
    ended: Option<u64>,
    round_trips: LatencyHistogram,
}
