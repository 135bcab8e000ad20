//! The open loop: every message has its time, and leaves then whether or not the ones before have come back.
//!
//! One thread sends, another takes the answers. What did not leave in time, because the thread was not woken or
//! the socket had no room, leaves late; its time stays, so that a stall is seen as often as it is met.

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

/// From the decision to begin to the first message: the receiver stands by then.
const LEAD: Nanos = Nanos::from_millis(5);
/// Messages under way are remembered for at least this long, as far as [`MOST`] allows.
const REMEMBERED: Nanos = Nanos::from_secs(4);
const LEAST: u64 = 1 << 16;
const MOST: u64 = 1 << 20;
/// Not yet known.
const UNKNOWN: u64 = u64::MAX;

/// What the sending and the receiving thread share.
pub(super) struct Open<'a> {
    socket: &'a MessageSocket,
    load: &'a PingPongSettings,
    shared: &'a SharedState<'a>,
    period: u64,
    window: Window,
    /// When the first message is due.
    begin: AtomicU64,
    /// How many messages the sender has sent, once it has ended.
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

    /// How many messages fall due.
    fn count(&self) -> u64 {
        (self.load.warmup + self.load.duration).0.div_ceil(self.period)
    }

    /// The first message that is measured.
    fn first_measured(&self) -> u64 {
        self.load.warmup.0.div_ceil(self.period)
    }

    /// Sends every message at its time; returns how late each was, and where the thread ran.
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
                sender.seen.look();
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

    /// Waits until `due`, asleep or spinning, and says what time it is.
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

    /// When the first message is due, once the sender has said so.
    pub(super) fn begin(&self) -> Result<u64> {
        loop {
            match self.begin.load(Ordering::Acquire) {
                UNKNOWN => self.shared.check()?,
                begin => return Ok(begin),
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Takes answers until all have come or are given up; returns the round trips.
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

    /// Waits once, and says what time it is.
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
                    self.answered(&answer, now, tally, notes)?;
                }
            }
            Arrival::Nothing => {}
            Arrival::End => return Err(self.socket.ended(RefusalCode::Unsaid)),
        }
        Ok(now)
    }

    #[inline]
    fn answered(&self, answer: &Answer, now: u64, tally: &mut Tally, notes: &mut Recorder<'_>) -> Result<()> {
        let due = tally.begin + answer.number * self.period;
        if due >= notes.warm() {
            notes.answered(due, now)?;
            tally.round_trips.record(Nanos(now.saturating_sub(due + answer.late)));
        } else if notes.is_warming() {
            notes.answered(due, now)?;
        }
        Ok(())
    }

    /// Gives up datagrams that are overdue.
    fn sweep(&self, now: u64, tally: &mut Tally, notes: &mut Recorder<'_>) -> Result<()> {
        let overdue = now.saturating_sub(tally.begin + OVERDUE.0);
        if self.socket.is_stream() || overdue == 0 {
            return self.give_up(tally.oldest, now, tally, notes);
        }
        self.give_up((overdue / self.period).min(self.count()), now, tally, notes)
    }

    /// Gives up what is still under way of the messages below `limit`, and counts those that lost their place.
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

    /// Nothing gets lost on a stream, but as many answers as came under another number are missing.
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
        let missing = "the last answers".into();
        Err(Error::Silent { object: self.socket.name().into(), missing, waited: GRACE })
    }

    /// What has not come back by now, or was never sent, is lost.
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

/// What the sending thread counts.
#[derive(Default)]
struct Sender {
    sent: u64,
    lateness: LatencyHistogram,
    seen: CpuSet,
}

/// What the receiving thread counts.
#[derive(Default)]
struct Tally {
    begin: u64,
    wake: u64,
    /// No message below it is under way.
    oldest: u64,
    /// Messages that came back or were given up.
    settled: u64,
    /// When the sender was found to have ended.
    ended: Option<u64>,
    /// From when each message was sent.
    round_trips: LatencyHistogram,
}
