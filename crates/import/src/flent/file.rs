//! Parses flent's data files and classifies their series.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};
use workload::{Direction, Transport};

use super::{
    series::{Kind, Sample, Series},
    transform,
};

#[derive(Debug)]
pub(super) struct File {
    pub(super) version: Option<String>,
    pub(super) name: String,
    pub(super) title: Option<String>,
    pub(super) hosts: Option<(String, String)>,
    pub(super) series: Vec<Series>,
}

impl File {
    pub(super) fn read(text: &str) -> Result<Self, serde_json::Error> {
        let Document { version, metadata, raw_values, results, x_values } = serde_json::from_str(text)?;
        let known = &metadata.series;
        let old = version.and_then(|version| version.as_u64()).unwrap_or(1) < TRANSFORMED;
        let mut all: Vec<Series> =
            raw_values.into_iter().filter_map(|(name, raw)| series(name, &raw, known)).collect();
        for series in all.iter_mut().filter(|_| old) {
            transform::apply(series, results.get(&series.name));
        }
        if all.is_empty() {
            // Older files contain only the computed series.
            let sampled = |(name, values): (String, Vec<Value>)| {
                let points = x_values.iter().zip(values).map(|(at, val)| json!({"t": at, "val": val}));
                series(name, &points.collect::<Vec<_>>(), known)
            };
            all =
                results.into_iter().filter_map(sampled).filter(|series| !is_computed(&series.name)).collect();
        }
        let non_empty = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
        Ok(Self {
            version: non_empty(metadata.version),
            name: non_empty(metadata.name).unwrap_or_else(|| "flent".to_owned()),
            title: non_empty(metadata.title),
            hosts: non_empty(metadata.local_host).zip(non_empty(metadata.host)),
            series: all,
        })
    }

    pub(super) fn started(&self) -> Option<f64> {
        // In a computed series, times are relative to an unknown start of the test.
        let first =
            self.series.iter().filter_map(|series| Some(series.samples.first()?.at).filter(|at| *at > 1e9));
        first.min_by(f64::total_cmp)
    }
}

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Document {
    version: Option<Value>,
    metadata: Metadata,
    raw_values: BTreeMap<String, Vec<Value>>,
    results: BTreeMap<String, Vec<Value>>,
    x_values: Vec<Value>,
}

/// The first file version in which samples have the unit stated in their metadata.
const TRANSFORMED: u64 = 4;

fn is_computed(name: &str) -> bool {
    let name = name.to_lowercase();
    is_part(&name) || [" avg", " sum", "totals"].iter().any(|end| name.ends_with(end))
}

#[derive(Default, Deserialize)]
struct Metadata {
    #[serde(rename = "FLENT_VERSION")]
    version: Option<String>,
    #[serde(rename = "NAME")]
    name: Option<String>,
    #[serde(rename = "TITLE")]
    title: Option<String>,
    #[serde(rename = "LOCAL_HOST")]
    local_host: Option<String>,
    #[serde(rename = "HOST")]
    host: Option<String>,
    #[serde(rename = "SERIES_META", default)]
    series: BTreeMap<String, Value>,
}

fn series(name: String, raw: &[Value], known: &BTreeMap<String, Value>) -> Option<Series> {
    let mut samples: Vec<Sample> = raw.iter().filter_map(sample).collect();
    if samples.is_empty() {
        return None;
    }
    samples.sort_by(|one, other| one.at.total_cmp(&other.at));
    let meta = known.get(&name).unwrap_or(&Value::Null);
    let text = |key: &str| meta.get(key).and_then(Value::as_str);
    let number = |key: &str| meta.get(key).and_then(Value::as_f64).filter(|value| *value > 0.0);
    let words: Vec<&str> = name.split_whitespace().collect();
    let has = |word: &str| words.contains(&word);
    let transport = if has("TCP") { Some(Transport::Tcp) } else { has("UDP").then_some(Transport::Udp) };
    // Single round trips have sequence numbers. Means have durations.
    let single = raw.iter().any(|sample| sample.get("seq").is_some())
        && samples.iter().all(|sample| sample.lasts.is_none());
    let kind = kind(&name, text("UNITS"), text("RUNNER"), single);
    let congestion = text("CONG_CONTROL").map(str::to_owned);
    let received = number("BYTES_RECVD").zip(number("ELAPSED_TIME"));
    Some(Series { kind, transport, congestion, received, samples, name })
}

fn kind(name: &str, units: Option<&str>, runner: Option<&str>, single: bool) -> Kind {
    let lowercase = name.to_lowercase();
    let rate = units.is_none_or(|units| units == "Mbits/s") && !is_part(name);
    let time = units.map_or(lowercase.contains("(ms)"), |units| units == "ms");
    let pings = match runner {
        Some(runner) => single || ["Ping", "Irtt"].iter().any(|tool| runner.starts_with(tool)),
        None => single || lowercase.contains("icmp"),
    };
    let latency = lowercase.contains("latency");
    if lowercase.contains("download") && rate {
        Kind::Stream { direction: Direction::Reverse }
    } else if lowercase.contains("upload") && rate {
        Kind::Stream { direction: Direction::Forward }
    } else if !(latency || lowercase.contains("ping")) || !time {
        Kind::Other
    } else if pings && !latency {
        Kind::RoundTrips
    } else {
        Kind::MeanRoundTrips
    }
}

/// Returns whether the series is part of another: `TCP upload::1::tcp_cwnd` belongs to the stream `TCP upload::1`.
fn is_part(name: &str) -> bool {
    name.rsplit_once("::").is_some_and(|(_, part)| !part.bytes().all(|byte| byte.is_ascii_digit()))
}

fn sample(raw: &Value) -> Option<Sample> {
    let number = |key: &str| raw.get(key).and_then(Value::as_f64);
    let at = number("t").filter(|at| (0.0..1e11).contains(at))?;
    let value = number("val").filter(|value| (0.0..1e9).contains(value))?;
    Some(Sample { at, value, lasts: number("dur").filter(|lasts| (1e-6..1e6).contains(lasts)) })
}
