//! Identifies a test's cell and derives names from its settings.

use std::collections::BTreeMap;

use samples::{ImportedKind, ImportedSettings, WorkloadSource};
use units::Bytes;
use workload::{Direction, Measurement, Quantity, Transport};

use crate::{
    imported_test::{End, ImportedTest, Part},
    rate_basis::RateBasis,
    title::slug,
};

/// iperf3's default TCP write size (DEFAULT_TCP_BLKSIZE).
const USUAL_MESSAGE: Bytes = Bytes(128 << 10);

#[derive(Debug, PartialEq)]
pub(super) struct Identity {
    pub(super) file: String,
    pub(super) title: Vec<String>,
    pub(super) settings: ImportedSettings,
    pub(super) hosts: Option<(String, String)>,
    pub(super) levels: BTreeMap<String, String>,
    pub(super) counted: Option<RateBasis>,
    pub(super) quantity: Quantity,
    pub(super) observed: BTreeMap<&'static str, String>,
    pub(super) part: Part,
}

impl Identity {
    pub(super) fn of(found: &ImportedTest) -> Self {
        Self {
            file: found.file.clone(),
            title: found.title.clone(),
            settings: found.settings.clone(),
            hosts: hosts(found),
            levels: found.levels.clone(),
            counted: RateBasis::of(&found.measurement),
            quantity: quantity(&found.measurement),
            observed: found.observed.clone(),
            part: found.part.clone(),
        }
    }

    pub(super) fn all_observed(&self) -> BTreeMap<&'static str, String> {
        let congestion = self.settings.congestion.clone().map(|name| ("congestion", name));
        self.observed.clone().into_iter().chain(congestion).collect()
    }
}

fn hosts(found: &ImportedTest) -> Option<(String, String)> {
    let role = |role: &str| role.to_owned();
    found.hosts.clone().or_else(|| match (found.end, found.peer.clone()) {
        (Some(End::Client), Some(peer)) => Some((role("client"), peer)),
        (Some(End::Server), Some(peer)) => Some((peer, role("server"))),
        _ => None,
    })
}

fn quantity(measurement: &Measurement) -> Quantity {
    match measurement {
        Measurement::Stream(_) => Quantity::BitRate,
        Measurement::PingPong(_) => Quantity::Time,
        Measurement::Reported(data) => data.values.first().map_or(Quantity::Plain, |value| value.quantity),
        _ => Quantity::Plain,
    }
}

pub(super) fn stem_of(file: &str) -> &str {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.split_once('.').map_or(name, |(stem, _)| if stem.is_empty() { file } else { stem })
}

pub(super) fn usual_workload(imported: &ImportedSettings) -> &'static str {
    let under_load = imported.tool.ends_with(" under-load");
    match (imported.kind, imported.transport) {
        (ImportedKind::PingPong, Some(Transport::Tcp)) if under_load => "tcp-under-load",
        (ImportedKind::PingPong, Some(Transport::Udp)) if under_load => "udp-under-load",
        (ImportedKind::PingPong, None) if under_load => "under-load",
        (ImportedKind::Stream, Some(Transport::Tcp)) => "tcp-stream",
        (ImportedKind::Stream, Some(Transport::Udp)) => "udp-stream",
        (ImportedKind::Stream, None) => "stream",
        (ImportedKind::PingPong, Some(Transport::Tcp)) => "tcp-ping-pong",
        (ImportedKind::PingPong, Some(Transport::Udp)) => "udp-ping-pong",
        (ImportedKind::PingPong, None) => "ping-pong",
        (ImportedKind::Connect, _) => "connections",
        (ImportedKind::Other, _) => "reported",
    }
}

pub(super) fn settings(imported: &ImportedSettings) -> BTreeMap<String, String> {
    let direction = imported.direction.map(|direction| match direction {
        Direction::Forward => "forward",
        Direction::Reverse => "reverse",
        Direction::Both => "both",
    });
    let transport = imported.transport.map(|transport| match transport {
        Transport::Tcp => "tcp",
        Transport::Udp => "udp",
    });
    [
        ("congestion", imported.congestion.clone()),
        ("direction", direction.map(str::to_owned)),
        ("message", imported.message.map(|size| size.to_string())),
        ("rate", imported.rate.map(|rate| rate.to_string())),
        ("streams", imported.streams.map(|streams| streams.to_string())),
        ("transport", transport.map(str::to_owned)),
    ]
    .into_iter()
    .filter_map(|(setting, value)| Some((setting.to_owned(), value?)))
    .chain(imported.options.clone())
    .collect()
}

/// Returns the settings for the cell name, without defaults. A log that omits the defaults gets the same cells.
pub(super) fn unusual_settings(
    imported: &ImportedSettings,
    settings: &BTreeMap<String, String>,
) -> Vec<String> {
    let datagrams = |size: Bytes| (1400..=1500).contains(&size.0) || size.0 == 8192;
    let message = match imported.transport {
        Some(Transport::Udp) => imported.message.is_none_or(datagrams),
        _ => imported.message.is_none_or(|size| size == USUAL_MESSAGE),
    };
    let usual = |setting: &str| match setting {
        "congestion" => true,
        "direction" => imported.direction.is_none_or(|direction| direction == Direction::Forward),
        "message" => message,
        "rate" => imported.rate.is_none(),
        "streams" => imported.streams.is_none_or(|streams| streams <= 1),
        "transport" => imported.transport.is_none_or(|transport| transport == Transport::Tcp),
        _ => false,
    };
    let word = |(setting, value): (&String, &String)| slug(&format!("{setting}={value}"));
    settings.iter().filter(|(setting, _)| !usual(setting)).map(word).collect()
}

/// Returns the tool's name with its mode, but without its version.
pub(super) fn family(imported: &ImportedSettings) -> String {
    let mut words = imported.tool.split_whitespace();
    let first = words.next().unwrap_or_default();
    match words.last() {
        Some("under-load") => format!("{first} under-load"),
        _ => first.to_owned(),
    }
}

pub(super) fn differs(sent: &WorkloadSource, imported: &ImportedSettings) -> bool {
    match sent {
        WorkloadSource::Imported(other) => (other.kind, family(other)) != (imported.kind, family(imported)),
        WorkloadSource::Load(_) => true,
    }
}
