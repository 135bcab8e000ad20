//! Settings of ping-pongs and their background streams.

use units::{Bytes, Nanos};
use workload::{Background, Direction, Mode, PingPongSettings, Schedule, Transport, Waiting};

use super::{Keys, limits, or, refuse, socket};
use crate::{
    diagnosis::Problem,
    document::{Loop, Spanned, UnderTable, WorkloadTable},
    workload::stream_message,
};

const DURATION: Nanos = Nanos::from_secs(2);
const WARMUP: Nanos = Nanos::from_millis(300);
const MESSAGE: Bytes = Bytes(64);
/// The default period: 10,000 messages per second.
const PERIOD: Nanos = Nanos(100_000);
const LEAST_PERIOD: Nanos = Nanos(1000);
const LONGEST_PERIOD: Nanos = Nanos::from_secs(1);

pub(super) const KEYS: Keys = Keys {
    owner: "a ping-pong",
    this: "this is a ping-pong",
    own: &["transport", "message", "schedule", "period", "waiting", "under", "source-port"],
    reason: |key| {
        let rate = "a ping-pong has no byte rate; `schedule = \"open\"` and `period` set its message rate";
        (key == "rate").then_some(rate)
    },
};

pub(super) fn load(table: &WorkloadTable, problems: &mut Vec<Problem>) -> PingPongSettings {
    let transport = or(&table.transport, Transport::Udp);
    let usual = PingPongSettings::new(table.duration.as_ref().map_or(DURATION, |time| time.0));
    PingPongSettings {
        transport,
        message: limits::size(&table.message, MESSAGE, &limits::MESSAGES, problems),
        schedule: schedule(table, problems),
        waiting: or(&table.waiting, Waiting::Block),
        under: table.under.as_ref().map(|under| background(under, problems)),
        warmup: table.warmup.as_ref().map_or(WARMUP, |time| time.0),
        socket: socket::settings(table, transport, problems),
        interval: table.interval.as_ref().map_or(usual.interval, |time| time.0),
        ..usual
    }
}

fn schedule(table: &WorkloadTable, problems: &mut Vec<Problem>) -> Schedule {
    if or(&table.schedule, Loop::Closed) == Loop::Closed {
        let reason = "a closed loop sends when the previous message has returned; for an open loop, \
                      set `schedule = \"open\"`";
        refuse(&table.period, "period", reason, problems);
        return Schedule::Closed;
    }
    problems.extend(limits::time_out_of(&table.period, LEAST_PERIOD, LONGEST_PERIOD));
    Schedule::Open { period: table.period.as_ref().map_or(PERIOD, |time| time.0) }
}

fn background(under: &Spanned<UnderTable>, problems: &mut Vec<Problem>) -> Background {
    let under = under.get_ref();
    let mode = under.mode.unwrap_or(Mode::App);
    let default = stream_message(Transport::Tcp, mode);
    Background {
        mode,
        streams: limits::count(&under.streams, "streams", problems),
        direction: under.direction.unwrap_or(Direction::Forward),
        rate: limits::rate(&under.rate, problems),
        message: limits::size(&under.message, default, &limits::stream_messages(Transport::Tcp), problems),
    }
}
