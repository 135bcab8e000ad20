//! What is printed with --json: iperf3's document, and ours in it.

use findings::Solo;
use serde::Serialize;
use serde_json::{Value, json};
use traffic::iperf3::{ClientSpec, Report};
use units::Nanos;

/// iperf3's document with one object more, which its readers pass over.
#[derive(Serialize)]
struct Document<'a, T> {
    #[serde(flatten)]
    iperf3: T,
    plumb: &'a Solo,
}

/// The document of a test, with an interval as often as said.
pub(super) fn of(
    spec: &ClientSpec,
    report: &Report,
    every: Nanos,
    plumb: &Solo,
) -> serde_json::Result<String> {
    let iperf3 = traffic::iperf3::document(spec, report, every);
    serde_json::to_string_pretty(&Document { iperf3, plumb })
}

/// The document of a test that failed, as iperf3 has it.
pub(super) fn failed(error: &str) -> serde_json::Result<String> {
    #[derive(Serialize)]
    struct Failed<'a> {
        start: Value,
        intervals: [(); 0],
        end: Value,
        error: &'a str,
    }
    let start = json!({ "connected": [] });
    serde_json::to_string_pretty(&Failed { start, intervals: [], end: json!({}), error })
}
