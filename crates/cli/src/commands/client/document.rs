//! The `--json` output: iperf3's document plus a `plumb` object.

use findings::SingleMeasurement;
use serde::Serialize;
use serde_json::{Value, json};
use server::iperf3::{ClientSpec, Report};
use units::Nanos;

pub(super) const INTERRUPTED: &str = "interrupt - the client has terminated";

#[derive(Serialize)]
struct Document<'a, T> {
    #[serde(flatten)]
    iperf3: T,
    plumb: &'a SingleMeasurement,
}

pub(super) fn render(
    spec: &ClientSpec,
    report: &Report,
    every: Nanos,
    error: Option<&str>,
    plumb: &SingleMeasurement,
) -> serde_json::Result<String> {
    let mut iperf3 = server::iperf3::document(spec, report, every);
    iperf3.error = error.map(str::to_owned);
    serde_json::to_string_pretty(&Document { iperf3, plumb })
}

pub(super) fn failed(error: &str) -> serde_json::Result<String> {
    without_end(error, None)
}

pub(super) fn partial(totals: &[String]) -> serde_json::Result<String> {
    without_end(INTERRUPTED, Some(json!({ "till_then": totals })))
}

fn without_end(error: &str, plumb: Option<Value>) -> serde_json::Result<String> {
    #[derive(Serialize)]
    struct Failed<'a> {
        start: Value,
        intervals: [(); 0],
        end: Value,
        error: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        plumb: Option<Value>,
    }
    let start = json!({ "connected": [] });
    serde_json::to_string_pretty(&Failed { start, intervals: [], end: json!({}), error, plumb })
}
