//! Values selected by the user: `THROUGHPUT=10391.16` lines (`-k`), or CSV with a header (`-o`).

use std::collections::BTreeMap;

use samples::ImportedKind;
use units::Bytes;
use workload::{Direction, Measurement, Quantity, ReportedData, ReportedValue, Transport};

use super::{
    banner::{Banner, Kind},
    classic::{settings, value},
    rows::share,
};
use crate::{
    format::{Line, Out},
    imported_test::{End, ImportedTest},
    quantity::{as_written, leading_number},
    unit::unit,
};

const FORMAT: &str = "netperf values";

/// Limit on values per test; netperf has about 200.
const MOST: usize = 512;

/// Values by netperf's name.
#[derive(Debug)]
pub(super) struct Chosen {
    first: u64,
    last: u64,
    values: BTreeMap<String, String>,
    /// CSV header, until its row follows.
    names: Option<Vec<String>>,
}

impl Chosen {
    /// Starts at a line of values.
    pub(super) fn begin(line: &Line<'_>) -> Option<Self> {
        let mut chosen = Self { first: line.number, last: line.number, values: BTreeMap::new(), names: None };
        if let Some(names) = names(line.text) {
            chosen.names = Some(names);
            return Some(chosen);
        }
        chosen.pair(line).then_some(chosen)
    }

    /// Adds a line; `false` if it does not belong here.
    pub(super) fn line(&mut self, line: &Line<'_>) -> bool {
        let taken = match self.names.take() {
            Some(names) => self.row(&names, line),
            None => self.pair(line),
        };
        if taken {
            self.last = line.number;
        }
        taken
    }

    /// Completes the test, if the values are one.
    pub(super) fn finish(self, banner: Option<&Banner>, out: &mut Out) {
        // Shell assignments look the same, so a throughput with a unit is required.
        let (Some(rate), Some(written)) =
            (self.values.get("THROUGHPUT"), self.values.get("THROUGHPUT_UNITS"))
        else {
            return;
        };
        let rate = number(rate).filter(|rate| *rate >= 0.0);
        let unit =
            unit(written).filter(|unit| matches!(unit.quantity, Quantity::BitRate | Quantity::PerSecond));
        let in_base = rate.zip(unit).map(|(rate, unit)| (unit.quantity, as_written(rate * unit.factor)));
        match in_base.filter(|(_, rate)| rate.is_finite()) {
            Some((quantity, rate)) => out.found(self.found(quantity, rate, banner)),
            None => {
                out.note(format!("netperf's values at line {}: skipped: no throughput.", self.first));
            }
        }
    }

    fn found(self, quantity: Quantity, rate: f64, banner: Option<&Banner>) -> ImportedTest {
        let transport = match self.values.get("PROTOCOL").map(String::as_str) {
            Some("TCP") => Some(Transport::Tcp),
            Some("UDP") => Some(Transport::Udp),
            _ => banner.and_then(|banner| banner.transport),
        };
        let is_stream = quantity == Quantity::BitRate;
        let kind = match banner.map(|banner| banner.kind) {
            Some(Kind::Connections) => ImportedKind::Connect,
            _ if is_stream => ImportedKind::Stream,
            _ => ImportedKind::PingPong,
        };
        let values = self.values(quantity, rate, kind, transport);
        let direction = self.direction(banner).filter(|_| is_stream);
        let size = |name: &str| {
            number(self.values.get(name)?).filter(|size| *size >= 1.0).map(|size| Bytes(size as u64))
        };
        let message = size(if is_stream { "LOCAL_SEND_SIZE" } else { "REQUEST_SIZE" });
        let mut settings = settings(kind, transport, direction, message);
        settings.congestion = self.values.get("LOCAL_CONG_CONTROL").filter(|name| !name.is_empty()).cloned();
        let measurement = Measurement::Reported(ReportedData { values });
        let mut found = ImportedTest::new(FORMAT, self.first..=self.last, settings, measurement);
        found.end = Some(End::Client);
        found
    }

    fn direction(&self, banner: Option<&Banner>) -> Option<Direction> {
        match self.values.get("DIRECTION").map(String::as_str) {
            Some("Send") => Some(Direction::Forward),
            Some("Recv" | "Receive") => Some(Direction::Reverse),
            _ => match banner?.kind {
                Kind::Stream(direction) => Some(direction),
                Kind::Datagrams => Some(Direction::Forward),
                _ => None,
            },
        }
    }

    /// Most important value first: for datagrams the received rate; the sent rate is labelled as such.
    fn values(
        &self,
        quantity: Quantity,
        rate: f64,
        kind: ImportedKind,
        transport: Option<Transport>,
    ) -> Vec<ReportedValue> {
        let name = match kind {
            ImportedKind::Stream if transport == Some(Transport::Udp) => "sent",
            ImportedKind::Stream => "throughput",
            ImportedKind::Connect => "connections",
            _ => "transactions",
        };
        let mut values = vec![value(name, quantity, rate)];
        let times = [
            ("P50_LATENCY", "p50"),
            ("MEAN_LATENCY", "mean"),
            ("STDDEV_LATENCY", "standard deviation"),
            ("MIN_LATENCY", "min"),
            ("P90_LATENCY", "p90"),
            ("P99_LATENCY", "p99"),
            ("MAX_LATENCY", "max"),
        ];
        for (own, name) in times {
            let micros =
                self.values.get(own).and_then(|text| number(text)).filter(|time| (0.0..1e12).contains(time));
            values.extend(micros.map(|micros| value(name, Quantity::Time, as_written(micros * 1e3))));
        }
        for (own, name) in [("LOCAL_CPU_UTIL", "client CPU"), ("REMOTE_CPU_UTIL", "server CPU")] {
            let busy = self.values.get(own).and_then(|text| number(text)).and_then(share);
            values.extend(busy.map(|share| value(name, Quantity::Share, share)));
        }
        let again = self.values.get("LOCAL_TRANSPORT_RETRANS").and_then(|text| number(text));
        values.extend(
            again.filter(|again| *again >= 0.0).map(|again| value("retransmits", Quantity::Count, again)),
        );
        values
    }

    fn pair(&mut self, line: &Line<'_>) -> bool {
        let Some((name, text)) = line.text.split_once('=') else { return false };
        let is_name = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
        let fits = self.values.len() < MOST && name.len() <= 64 && text.len() <= 256;
        if name.is_empty() || !name.bytes().all(is_name) || !fits || !line.whole {
            return false;
        }
        self.values.insert(name.to_owned(), text.trim().trim_matches('"').to_owned());
        true
    }

    fn row(&mut self, names: &[String], line: &Line<'_>) -> bool {
        let cells = csv(line.text);
        if cells.len() != names.len() || !line.whole {
            return false;
        }
        self.values.extend(names.iter().cloned().zip(cells));
        true
    }
}

/// Parses `-o`'s header into the names that `-k` uses.
fn names(text: &str) -> Option<Vec<String>> {
    if !text.contains("Throughput Units") {
        return None;
    }
    const NAMES: [(&str, &str); 17] = [
        ("Throughput", "THROUGHPUT"),
        ("Throughput Units", "THROUGHPUT_UNITS"),
        ("Protocol", "PROTOCOL"),
        ("Direction", "DIRECTION"),
        ("Local CPU Util %", "LOCAL_CPU_UTIL"),
        ("Remote CPU Util %", "REMOTE_CPU_UTIL"),
        ("Mean Latency Microseconds", "MEAN_LATENCY"),
        ("Stddev Latency Microseconds", "STDDEV_LATENCY"),
        ("Minimum Latency Microseconds", "MIN_LATENCY"),
        ("50th Percentile Latency Microseconds", "P50_LATENCY"),
        ("90th Percentile Latency Microseconds", "P90_LATENCY"),
        ("99th Percentile Latency Microseconds", "P99_LATENCY"),
        ("Maximum Latency Microseconds", "MAX_LATENCY"),
        ("Local Transport Retransmissions", "LOCAL_TRANSPORT_RETRANS"),
        ("Request Size Bytes", "REQUEST_SIZE"),
        ("Local Send Size", "LOCAL_SEND_SIZE"),
        ("Local Congestion Control Algorithm", "LOCAL_CONG_CONTROL"),
    ];
    let own = |cell: String| {
        let known = NAMES.iter().find(|(written, _)| *written == cell);
        known.map_or(cell, |(_, name)| (*name).to_owned())
    };
    let names: Vec<String> = csv(text).into_iter().map(own).collect();
    (names.len() <= MOST && names.iter().any(|name| name == "THROUGHPUT")).then_some(names)
}

/// Cells of a CSV line; quoted cells may contain commas.
fn csv(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    for sign in line.chars() {
        match (sign, cells.last_mut()) {
            ('"', _) => quoted = !quoted,
            (',', _) if !quoted => cells.push(String::new()),
            (sign, Some(cell)) => cell.push(sign),
            (_, None) => {}
        }
    }
    cells.into_iter().map(|cell| cell.trim().to_owned()).collect()
}

fn number(text: &str) -> Option<f64> {
    leading_number(text.trim()).filter(|(_, rest)| rest.is_empty()).map(|(number, _)| number)
}
