//! Reads user-selected values: `THROUGHPUT=10391.16` lines (`-k`), CSV with a header (`-o`), or aligned columns
//! (`-O`).

use std::{collections::BTreeMap, ops::RangeInclusive};

use samples::ImportedKind;
use units::Bytes;
use workload::{Direction, Measurement, Quantity, ReportedData, ReportedValue, Transport};

use super::{
    banner::{Banner, Kind},
    classic::{settings, value},
    rows::share,
    value_names::{NAMES, canonical},
};
use crate::{
    format::{Line, Out},
    imported_test::{End, ImportedTest},
    quantity::{as_written, leading_number},
    unit::unit,
};

const FORMAT: &str = "netperf values";

/// Maximum number of values per test. netperf has about 200.
const MOST: usize = 512;

/// `NAME=value` lines, or rows below headings or below a command that names the values.
#[derive(Debug)]
pub(super) enum Chosen {
    Pairs { first: u64, last: u64, values: Values },
    Rows { first: u64, names: Vec<String> },
}

type Values = BTreeMap<String, String>;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fit {
    Yes,
    No,
}

impl Chosen {
    pub(super) fn begin(line: &Line<'_>, banner: Option<&Banner>) -> Option<Self> {
        if let Some(names) = names(line.text, banner.is_some()) {
            return Some(Self::Rows { first: line.number, names });
        }
        let (name, value) = pair(line)?;
        let values = Values::from([(name, value)]);
        Some(Self::Pairs { first: line.number, last: line.number, values })
    }

    pub(super) const fn rows(first: u64, names: Vec<String>) -> Self {
        Self::Rows { first, names }
    }

    pub(super) fn line(&mut self, line: &Line<'_>, banner: Option<&Banner>, out: &mut Out) -> Fit {
        match self {
            Self::Pairs { last, values, .. } => {
                let Some((name, value)) = pair(line).filter(|_| values.len() < MOST) else { return Fit::No };
                values.insert(name, value);
                *last = line.number;
            }
            Self::Rows { first, names } => {
                let cells = if line.text.contains(',') { csv(line.text) } else { words(line.text) };
                let starts = cells
                    .first()
                    .is_some_and(|cell| number(cell).is_some() || !line.text.trim().contains(' '));
                if cells.len() != names.len() || !line.whole || !starts {
                    return Fit::No;
                }
                let values: Values = names.iter().cloned().zip(cells).collect();
                let Some(test) = Selected::of(values, *first..=line.number, banner, out) else {
                    return Fit::No;
                };
                out.found(test);
                *first = line.number;
            }
        }
        Fit::Yes
    }

    pub(super) fn finish(self, banner: Option<&Banner>, out: &mut Out) {
        let Self::Pairs { first, last, values } = self else { return };
        // Shell assignments look the same, so without a heading, require a throughput with a unit.
        let is_test = values.contains_key("THROUGHPUT") && values.contains_key("THROUGHPUT_UNITS");
        if banner.is_some() || is_test {
            let found = Selected::of(values, first..=last, banner, out);
            found.into_iter().for_each(|found| out.found(found));
        }
    }
}

struct Selected {
    values: Values,
    lines: RangeInclusive<u64>,
}

impl Selected {
    fn of(
        values: Values,
        lines: RangeInclusive<u64>,
        banner: Option<&Banner>,
        out: &mut Out,
    ) -> Option<ImportedTest> {
        let selected = Self { values, lines };
        let rate = match selected.rate(banner) {
            Ok(rate) => rate,
            Err(why) => {
                out.note(format!("netperf's values at line {}: skipped: {why}.", selected.lines.start()));
                None
            }
        };
        if rate.is_none() && selected.times().next().is_none() {
            return None;
        }
        Some(selected.found(rate, banner))
    }

    /// Returns the throughput or transaction rate in base units. If the values have no unit, the command determines it.
    /// Without a command, request/response tests report transactions.
    fn rate(&self, banner: Option<&Banner>) -> Result<Option<(Quantity, f64)>, &'static str> {
        let transactions = banner.is_some_and(|it| it.kind.has_transactions());
        let per_second = || unit("/s");
        let (written, unit) = match (self.values.get("THROUGHPUT"), self.values.get("TRANSACTION_RATE")) {
            (Some(rate), _) => (
                rate,
                match self.values.get("THROUGHPUT_UNITS") {
                    Some(written) => unit(written),
                    None => {
                        let own =
                            banner.and_then(|it| it.unit).or_else(|| per_second().filter(|_| transactions));
                        Some(own.ok_or("the unit of the throughput is not shown")?)
                    }
                },
            ),
            (None, Some(rate)) => (rate, per_second()),
            (None, None) => return Ok(None),
        };
        let rate = number(written).filter(|rate| *rate >= 0.0);
        let unit = unit.filter(|unit| matches!(unit.quantity, Quantity::BitRate | Quantity::PerSecond));
        let in_base = rate.zip(unit).map(|(rate, unit)| (unit.quantity, as_written(rate * unit.factor)));
        in_base.filter(|(_, rate)| rate.is_finite()).map(Some).ok_or("no throughput")
    }

    fn found(self, rate: Option<(Quantity, f64)>, banner: Option<&Banner>) -> ImportedTest {
        let transport = match self.values.get("PROTOCOL").map(String::as_str) {
            Some("TCP") => Some(Transport::Tcp),
            Some("UDP") => Some(Transport::Udp),
            _ => banner.and_then(|banner| banner.transport),
        };
        let is_stream = rate.is_some_and(|(quantity, _)| quantity == Quantity::BitRate);
        let kind = match banner.map(|banner| banner.kind) {
            Some(Kind::Connections) => ImportedKind::Connect,
            Some(kind) if kind.has_transactions() => ImportedKind::PingPong,
            _ if is_stream => ImportedKind::Stream,
            _ => ImportedKind::PingPong,
        };
        let is_stream = kind == ImportedKind::Stream;
        let values = self.values(rate, kind);
        let direction = self.direction(banner).filter(|_| is_stream);
        let size = |name: &str| {
            number(self.values.get(name)?).filter(|size| *size >= 1.0).map(|size| Bytes(size as u64))
        };
        let message = size(if is_stream { "LOCAL_SEND_SIZE" } else { "REQUEST_SIZE" });
        let mut settings = settings(kind, transport, direction, message);
        settings.congestion = self.values.get("LOCAL_CONG_CONTROL").filter(|name| !name.is_empty()).cloned();
        let measurement = Measurement::Reported(ReportedData { values });
        let mut found = ImportedTest::new(FORMAT, self.lines, settings, measurement);
        found.end = Some(End::Client);
        found.peer = banner.and_then(|banner| banner.host.clone());
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

    fn times(&self) -> impl Iterator<Item = ReportedValue> {
        const TIMES: [(&str, &str); 8] = [
            ("P50_LATENCY", "p50"),
            ("MEAN_LATENCY", "mean"),
            ("RT_LATENCY", "round trip"),
            ("STDDEV_LATENCY", "standard deviation"),
            ("MIN_LATENCY", "min"),
            ("P90_LATENCY", "p90"),
            ("P99_LATENCY", "p99"),
            ("MAX_LATENCY", "max"),
        ];
        TIMES.iter().filter_map(|(own, name)| {
            let micros = number(self.values.get(*own)?).filter(|time| (0.0..1e12).contains(time))?;
            Some(value(name, Quantity::Time, as_written(micros * 1e3)))
        })
    }

    /// Returns the values, the most important one first. For datagrams, throughput is what the server received
    /// (nettest_omni.c in netperf).
    fn values(&self, rate: Option<(Quantity, f64)>, kind: ImportedKind) -> Vec<ReportedValue> {
        let name = match kind {
            _ if rate.is_some_and(|(quantity, _)| quantity == Quantity::BitRate) => "throughput",
            ImportedKind::Connect => "connections",
            _ => "transactions",
        };
        let mut values: Vec<ReportedValue> = rate
            .into_iter()
            .map(|(quantity, rate)| value(name, quantity, rate))
            .chain(self.times())
            .collect();
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
}

fn pair(line: &Line<'_>) -> Option<(String, String)> {
    let (name, text) = line.text.split_once('=')?;
    let is_name = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    let fits = !name.is_empty() && name.len() <= 64 && text.len() <= 256 && line.whole;
    (fits && name.bytes().all(is_name)).then(|| (name.to_owned(), text.trim().trim_matches('"').to_owned()))
}

fn is_result(name: &str) -> bool {
    matches!(name, "THROUGHPUT" | "TRANSACTION_RATE") || name.ends_with("_LATENCY")
}

/// Parses the header of `-o`. No other CSV has these names, but a single column must follow netperf's heading.
fn names(text: &str, has_banner: bool) -> Option<Vec<String>> {
    if !has_banner && !text.contains("Throughput Units") {
        return None;
    }
    let cells = csv(text);
    let known = |cell: &String| NAMES.iter().any(|(written, _)| written == cell);
    let count = cells.iter().filter(|cell| known(cell)).count();
    let enough = count > 0 && (has_banner || count > 1);
    let names: Vec<String> = cells.iter().map(|cell| canonical(cell)).collect();
    (enough && names.len() <= MOST && names.iter().any(|name| is_result(name))).then_some(names)
}

/// Names a row's columns by the headings above (`-O`), which start at the same position as the words of the row.
pub(super) fn columns(headings: &[String], row: &str) -> Option<Vec<String>> {
    let starts: Vec<usize> =
        row.split_whitespace().map(|word| word.as_ptr() as usize - row.as_ptr() as usize).collect();
    let ends = starts.iter().skip(1).copied().chain([usize::MAX]);
    let column = |(start, end): (&usize, usize)| {
        let parts =
            headings.iter().filter_map(|heading| heading.get(*start..end.min(heading.len())).map(str::trim));
        canonical(&parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" "))
    };
    let names: Vec<String> = starts.iter().zip(ends).map(column).collect();
    let known = names.iter().any(|name| is_result(name) && NAMES.iter().any(|(_, own)| own == name));
    (known && names.len() <= MOST).then_some(names)
}

pub(super) fn is_heading(text: &str) -> bool {
    const WORDS: &str = "Throughput Units Elapsed Time (sec) Minimum Mean Maximum Stddev 50th 90th 99th Percentile Latency \
                         Microseconds Transaction Rate Tran/s Round Trip usec/tran Local Remote Send Recv Socket Size Final \
                         CPU Util % Service Demand Protocol Direction Confidence Level Percent Request Response Bytes \
                         Retransmissions Transport Congestion Control Algorithm Burst Initial Requests Method";
    let mut words = text.split_whitespace().peekable();
    words.peek().is_some() && words.all(|word| WORDS.split_whitespace().any(|known| known == word))
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

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
