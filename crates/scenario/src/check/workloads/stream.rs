//! Stream settings.

use units::Nanos;
use workload::{Direction, Mode, StreamSettings, Transport, Until};

use super::{Keys, limits, or, refuse, socket};
use crate::{diagnosis::Problem, document::WorkloadTable, workload::stream_message};

const DURATION: Nanos = Nanos::from_secs(2);
const WARMUP: Nanos = Nanos::from_millis(300);

pub(super) const KEYS: Keys = Keys {
    owner: "a stream",
    this: "this is a stream",
    own: &["transport", "mode", "streams", "direction", "rate", "bytes", "message", "source-port"],
    reason: |_| None,
};

pub(super) fn load(table: &WorkloadTable, problems: &mut Vec<Problem>) -> StreamSettings {
    let transport = or(&table.transport, Transport::Tcp);
    let mode = or(&table.mode, Mode::App);
    let (until, warmup) = extent(table, problems);
    let default = stream_message(transport, mode);
    let usual = StreamSettings::new(until);
    StreamSettings {
        transport,
        mode,
        streams: limits::count(&table.streams, "streams", problems),
        direction: or(&table.direction, Direction::Forward),
        warmup,
        message: limits::size(&table.message, default, &limits::stream_messages(transport), problems),
        rate: limits::rate(&table.rate, problems),
        socket: socket::settings(table, transport, problems),
        interval: table.interval.as_ref().map_or(usual.interval, |time| time.0),
        ..usual
    }
}

fn extent(table: &WorkloadTable, problems: &mut Vec<Problem>) -> (Until, Nanos) {
    let Some(bytes) = &table.bytes else {
        let until = table.duration.as_ref().map_or(DURATION, |time| time.0);
        return (Until::Elapsed(until), table.warmup.as_ref().map_or(WARMUP, |time| time.0));
    };
    if table.duration.is_some() {
        let message = "a stream has either a duration or a number of bytes, not both";
        problems.push(Problem::new(bytes.span(), message, "conflicts").help("remove one of them"));
    }
    refuse(&table.warmup, "warmup", "a stream of a fixed number of bytes has no warm-up", problems);
    if bytes.0.0 == 0 {
        let problem = Problem::new(bytes.span(), "a stream of 0 bytes measures nothing", "zero");
        problems.push(problem.help("write e.g. `10GB`"));
    }
    (Until::Sent(bytes.0), Nanos(0))
}
