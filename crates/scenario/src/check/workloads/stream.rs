//! What a stream sends.

use units::Nanos;
use workload::{Direction, Mode, StreamSettings, Transport, Until};

use super::{limits, or, refuse, socket};
use crate::{
    diagnosis::Problem,
    document::{TransportWord, WorkloadTable},
    workload::stream_message,
};

const DURATION: Nanos = Nanos::from_secs(2);
const WARMUP: Nanos = Nanos::from_millis(300);

/// The load of a stream.
pub(super) fn load(table: &WorkloadTable, problems: &mut Vec<Problem>) -> StreamSettings {
    others(table, problems);
    let transport = Transport::from(or(&table.transport, TransportWord::Tcp));
    let mode = table.mode.as_ref().map_or(Mode::App, |word| Mode::from(*word.get_ref()));
    let (until, warmup) = extent(table, problems);
    let default = stream_message(transport, mode);
    let usual = StreamSettings::new(until);
    StreamSettings {
        transport,
        mode,
        streams: limits::several(&table.streams, "streams", problems),
        direction: table
            .direction
            .as_ref()
            .map_or(Direction::Forward, |word| Direction::from(*word.get_ref())),
        warmup,
        message: limits::size(&table.message, default, &limits::stream_messages(transport), problems),
        rate: limits::rate(&table.rate, problems),
        socket: socket::settings(table, transport, problems),
        interval: table.interval.as_ref().map_or(usual.interval, |time| time.get_ref().0),
        ..usual
    }
}

fn others(table: &WorkloadTable, problems: &mut Vec<Problem>) {
    let ping_pong = "it is a setting of a ping-pong, and this is a stream";
    refuse(&table.schedule, "schedule", ping_pong, problems);
    refuse(&table.period, "period", ping_pong, problems);
    refuse(&table.waiting, "waiting", ping_pong, problems);
    refuse(&table.under, "under", ping_pong, problems);
    let connect = "it is a setting of connections, and this is a stream";
    refuse(&table.clients, "clients", connect, problems);
    refuse(&table.request, "request", connect, problems);
    refuse(&table.response, "response", connect, problems);
}

/// When it ends, and what is left out at its start.
fn extent(table: &WorkloadTable, problems: &mut Vec<Problem>) -> (Until, Nanos) {
    let Some(bytes) = &table.bytes else {
        let until = table.duration.as_ref().map_or(DURATION, |time| time.get_ref().0);
        return (Until::Elapsed(until), table.warmup.as_ref().map_or(WARMUP, |time| time.get_ref().0));
    };
    if table.duration.is_some() {
        let message = "a stream ends after a duration or after a number of bytes, not both";
        problems.push(Problem::new(bytes.span(), message, "one too many").help("take one of the two out"));
    }
    refuse(&table.warmup, "warmup", "a stream of so many bytes has no warm-up", problems);
    if bytes.get_ref().0.0 == 0 {
        let problem = Problem::new(bytes.span(), "a stream of 0 bytes measures nothing", "zero");
        problems.push(problem.help("write as in `10GB`"));
    }
    (Until::Sent(bytes.get_ref().0), Nanos(0))
}
