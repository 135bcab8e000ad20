//! Settings of short-lived connections.

use units::Nanos;
use workload::{ConnectSettings, Transport};

use super::{Keys, limits, socket};
use crate::{diagnosis::Problem, document::WorkloadTable};

const DURATION: Nanos = Nanos::from_secs(2);
const WARMUP: Nanos = Nanos::from_millis(300);

pub(super) const KEYS: Keys = Keys {
    owner: "connections",
    this: "these are connections",
    own: &["clients", "request", "response"],
    reason: |key| match key {
        "message" => Some("use `request` and `response`"),
        "transport" => Some("connections are always TCP"),
        "source-port" => Some("each connection is new, and a port cannot be reused immediately"),
        _ => None,
    },
};

pub(super) fn load(table: &WorkloadTable, problems: &mut Vec<Problem>) -> ConnectSettings {
    let usual = ConnectSettings::new(table.duration.as_ref().map_or(DURATION, |time| time.0));
    ConnectSettings {
        clients: limits::count(&table.clients, "clients", problems),
        request: limits::size(&table.request, usual.request, &limits::EXCHANGE, problems),
        response: limits::size(&table.response, usual.response, &limits::EXCHANGE, problems),
        warmup: table.warmup.as_ref().map_or(WARMUP, |time| time.0),
        socket: socket::settings(table, Transport::Tcp, problems),
        interval: table.interval.as_ref().map_or(usual.interval, |time| time.0),
        ..usual
    }
}
