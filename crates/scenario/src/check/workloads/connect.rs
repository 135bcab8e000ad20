//! What connections that are used once send.

use units::Nanos;
use workload::{ConnectSettings, Transport};

use super::{limits, refuse, socket};
use crate::{diagnosis::Problem, document::WorkloadTable};

const DURATION: Nanos = Nanos::from_secs(2);
const WARMUP: Nanos = Nanos::from_millis(300);

/// The load of connections.
pub(super) fn load(table: &WorkloadTable, problems: &mut Vec<Problem>) -> ConnectSettings {
    others(table, problems);
    let usual = ConnectSettings::new(table.duration.as_ref().map_or(DURATION, |time| time.get_ref().0));
    ConnectSettings {
        clients: limits::several(&table.clients, "clients", problems),
        request: limits::size(&table.request, usual.request, &limits::EXCHANGE, problems),
        response: limits::size(&table.response, usual.response, &limits::EXCHANGE, problems),
        warmup: table.warmup.as_ref().map_or(WARMUP, |time| time.get_ref().0),
        socket: socket::settings(table, Transport::Tcp, problems),
        interval: table.interval.as_ref().map_or(usual.interval, |time| time.get_ref().0),
        ..usual
    }
}

fn others(table: &WorkloadTable, problems: &mut Vec<Problem>) {
    let stream = "it is a setting of a stream, and these are connections";
    refuse(&table.mode, "mode", stream, problems);
    refuse(&table.streams, "streams", stream, problems);
    refuse(&table.direction, "direction", stream, problems);
    refuse(&table.bytes, "bytes", stream, problems);
    refuse(&table.rate, "rate", stream, problems);
    refuse(&table.message, "message", "connections have a `request` and a `response`", problems);
    refuse(&table.transport, "transport", "connections are always TCP", problems);
    let ping_pong = "it is a setting of a ping-pong, and these are connections";
    refuse(&table.schedule, "schedule", ping_pong, problems);
    refuse(&table.period, "period", ping_pong, problems);
    refuse(&table.waiting, "waiting", ping_pong, problems);
    refuse(&table.under, "under", ping_pong, problems);
    let next = "every connection is a new one, and a port cannot be used again at once";
    refuse(&table.source_port, "source-port", next, problems);
}
