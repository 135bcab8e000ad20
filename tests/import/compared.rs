//! Compares runs imported from iperf3 logs. Only real losses may be reported.

use std::f64::consts::TAU;

use plumb_tests::Sandbox;
use serde_json::{Value, json};

use crate::sandbox;

const PAIRS: usize = 10;
const SCATTER: f64 = 0.02;

struct Draw(u64);

impl Draw {
    fn uniform(&mut self) -> f64 {
        // SplitMix64 (Steele, Lea & Flood, OOPSLA 2014).
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn about(&mut self, rate: f64) -> f64 {
        let radius = (-2.0 * self.uniform().max(1e-300).ln()).sqrt();
        rate * (SCATTER * radius * (TAU * self.uniform()).cos()).exp()
    }
}

fn log(draw: &mut Draw, rate: f64, number: usize) -> String {
    let carried = |bytes: u64, start: f64, end: f64| {
        json!({"socket": 5, "start": start, "end": end, "seconds": end - start, "bytes": bytes,
               "bits_per_second": 8.0 * bytes as f64 / (end - start), "omitted": false, "sender": false})
    };
    let bytes: Vec<u64> = (0..10).map(|_| (draw.about(rate) / 8.0) as u64).collect();
    let interval = |(second, bytes): (usize, &u64)| {
        let printed = carried(*bytes, second as f64, second as f64 + 1.0);
        json!({"streams": [printed], "sum": printed})
    };
    let intervals: Vec<Value> = bytes.iter().enumerate().map(interval).collect();
    let (sent, received) = (carried(0, 0.0, 10.0), carried(bytes.iter().sum(), 0.0, 10.0));
    json!({
        "start": {
            "connected": [{"socket": 5, "local_host": "198.18.0.2", "local_port": 5201,
                           "remote_host": "198.18.0.1", "remote_port": 40000 + number}],
            "version": "iperf 3.12", "system_info": "Linux",
            "timestamp": {"time": "", "timesecs": 1_700_000_000 + 20 * number},
            "cookie": format!("{number:037}"), "tcp_mss_default": 1448,
            "test_start": {"protocol": "TCP", "num_streams": 1, "blksize": 131_072, "omit": 0, "duration": 10,
                           "bytes": 0, "blocks": 0, "reverse": 0, "tos": 0},
            "accepted_connection": {"host": "198.18.0.1", "port": 39_999},
        },
        "intervals": intervals,
        "end": {"streams": [{"sender": sent, "receiver": received}], "sum_sent": sent, "sum_received": received,
                "cpu_utilization_percent": {"host_total": 10.0, "host_user": 1.0, "host_system": 9.0,
                                            "remote_total": 0.0, "remote_user": 0.0, "remote_system": 0.0}},
    })
    .to_string()
}

fn run(sandbox: &Sandbox, draw: &mut Draw, trials: usize, rate: f64) -> String {
    let file = |number: usize| {
        let rate = draw.about(rate);
        let text = log(draw, rate, number);
        sandbox.file(&format!("{number:02}.json"), &text)
    };
    let files: Vec<String> = (0..trials).map(file).collect();
    let words = ["import", "--quiet", "--together"].into_iter().chain(files.iter().map(String::as_str));
    sandbox.succeed(&words.collect::<Vec<_>>()).out.trim().to_owned()
}

fn pairs(trials: usize, kept: f64) -> Vec<(String, String)> {
    let sandbox = sandbox();
    let mut draw = Draw(0x1a9e_0000 + trials as u64 * 1000 + (kept * 100.0) as u64);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let judged = |_| {
        let a = run(&sandbox, &mut draw, trials, 10e9);
        let b = run(&sandbox, &mut draw, trials, 10e9 * kept);
        let output = sandbox.plumb(&["check", &b, "--against", &a, "--max-loss", "5%", "--json"]);
        let printed: Value = serde_json::from_str(&output.out).expect("JSON");
        (text(&printed["results"][0]["verdict"]), text(&printed["gate"]["outcome"]))
    };
    (0..PAIRS).map(judged).collect()
}

pub(crate) fn more_trials_find_more() {
    let count = |pairs: &[(String, String)], verdict: &str| pairs.iter().filter(|it| it.0 == verdict).count();
    let lost = pairs(20, 0.95);
    assert!(count(&lost, "worse") >= 8 && count(&lost, "same") == 0, "{lost:?}");
    for trials in [1, 5, 20] {
        let equal = pairs(trials, 1.0);
        assert_eq!(count(&equal, "worse") + count(&equal, "better"), 0, "{trials}: {equal:?}");
        let passed = equal.iter().filter(|it| it.1 == "passed").count();
        assert!(trials < 20 || passed >= 8, "{equal:?}");
    }
    let found = [1, 5, 10].map(|trials| count(&pairs(trials, 0.9), "worse"));
    assert!(found.is_sorted() && found[1] >= 6 && found[2] == PAIRS, "{found:?}");
}
