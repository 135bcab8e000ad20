//! Prometheus metrics of the measurements.

use ::watch::{Latest, Metrics};
use ::workload::Quantity;
use web::{Exposition, labels};

/// Each quantity's unit in metric names, and the factor that converts from the base unit.
const UNITS: [(Quantity, &str, f64); 4] = [
    (Quantity::BitRate, "bits_per_second", 1.0),
    (Quantity::ByteRate, "bytes_per_second", 1.0),
    (Quantity::Time, "seconds", 1e-9),
    (Quantity::PerSecond, "per_second", 1.0),
];

pub(super) fn text(metrics: &Metrics) -> String {
    let mut text = Exposition::default();
    let counts = metrics.measurements.iter().map(|((scenario, verdict), count)| {
        (labels(&[("scenario", scenario), ("verdict", verdict)]), *count as f64)
    });
    text.counter("plumb_watch_runs_total", "Measurements since the watch started, by verdict.", counts);
    let of_latest = |value: fn(&Latest) -> f64| {
        metrics.latest.iter().map(move |(scenario, it)| (labels(&[("scenario", scenario)]), value(it)))
    };
    text.gauge(
        "plumb_watch_last_run_timestamp_seconds",
        "Start time of the latest stored run.",
        of_latest(|it| it.results.started.0 as f64 / 1e3),
    );
    text.gauge(
        "plumb_watch_regression",
        "Whether a regression against the reference is active (1).",
        of_latest(|it| f64::from(u8::from(it.is_lost))),
    );
    for (quantity, unit, factor) in UNITS {
        let name = format!("plumb_watch_result_{unit}");
        text.gauge(&name, "Value of a result in the latest run.", values(metrics, quantity, factor));
    }
    let budget = metrics.budget.map(|budget| (String::new(), budget.0 as f64));
    text.gauge("plumb_watch_budget_bytes", "Daily budget.", budget.into_iter());
    let used = metrics.used.map(|used| (String::new(), used.0 as f64));
    text.gauge("plumb_watch_bytes_used", "Payload sent today (UTC).", used.into_iter());
    text.into_text()
}

fn values(metrics: &Metrics, quantity: Quantity, factor: f64) -> impl Iterator<Item = (String, f64)> {
    let results = metrics.latest.iter().flat_map(|(scenario, latest)| {
        latest.results.results.iter().map(move |result| (scenario.as_str(), result))
    });
    results.filter(move |(_, result)| result.metric.quantity() == quantity).map(move |(scenario, result)| {
        let metric = result.metric.name().replace(' ', "_");
        let all = [("scenario", scenario), ("result", result.result.as_str()), ("metric", metric.as_str())];
        (labels(&all), result.value.estimate * factor)
    })
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, sync::Arc};

    use findings::{Basis, Estimate, RunResult, RunResults};
    use samples::{RunId, UnixMillis};
    use units::Bytes;
    use watch::{StoredRun, Verdict};
    use workload::Metric;

    use super::*;

    fn result(result: &str, metric: Metric, median: f64) -> RunResult {
        RunResult {
            result: result.into(),
            path: "wire".into(),
            workload: "any".into(),
            levels: BTreeMap::new(),
            metric,
            disturbed: false,
            value: Estimate {
                estimate: median,
                mean: median,
                deviation: None,
                interval: None,
                trials: 1,
                outages: 0,
                basis: Basis::Trials,
            },
        }
    }

    #[test]
    fn metrics_use_base_units_and_conventional_names() {
        let start = UnixMillis(1_795_600_800_500);
        let results = RunResults {
            run: RunId("small-1".into()),
            started: start,
            tool: String::new(),
            kernel: None,
            results: vec![
                result("wire/bulk", Metric::Throughput, 9.4e9),
                result("wire/ping", Metric::RoundTrip, 20_000.0),
                result("wire/connect", Metric::ConnectionRate, 512.0),
            ],
        };
        let newest = StoredRun { bytes: Bytes(7), results: Arc::new(results) };
        let mut metrics =
            Metrics { used: Some(Bytes(7)), ..Metrics::new(["small"].into_iter(), Some(Bytes(50))) };
        metrics.take("small", &newest, true);
        metrics.count("small", Verdict::Regressed);
        metrics.count("small", Verdict::Skipped);
        metrics.count("small", Verdict::Regressed);
        let text = text(&metrics);
        for line in [
            "plumb_watch_runs_total{scenario=\"small\",verdict=\"skipped\"} 1",
            "plumb_watch_runs_total{scenario=\"small\",verdict=\"regressed\"} 2",
            "plumb_watch_runs_total{scenario=\"small\",verdict=\"failed\"} 0",
            "plumb_watch_last_run_timestamp_seconds{scenario=\"small\"} 1795600800.5",
            "plumb_watch_regression{scenario=\"small\"} 1",
            "plumb_watch_result_bits_per_second{scenario=\"small\",result=\"wire/bulk\",metric=\"throughput\"} 9400000000",
            "plumb_watch_result_seconds{scenario=\"small\",result=\"wire/ping\",metric=\"round_trip\"} 0.00002",
            "plumb_watch_result_per_second{scenario=\"small\",result=\"wire/connect\",metric=\"connection_rate\"} 512",
            "plumb_watch_budget_bytes 50",
            "plumb_watch_bytes_used 7",
            "# TYPE plumb_watch_runs_total counter",
        ] {
            assert!(text.lines().any(|other| other == line), "no `{line}` in\n{text}");
        }
        let text = super::text(&Metrics::default());
        assert!(!text.contains("budget") && !text.contains("used"), "unknown values are omitted: {text}");
    }
}
