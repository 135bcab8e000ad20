//! Checks the rates of right and wrong verdicts on generated data.

use std::{f64::consts::TAU, fmt::Write, sync::LazyLock};

use plumb_tests::{Case, Sandbox};
use serde_json::{Value, json};

use crate::{
    sandbox,
    stored_runs::{GOLDEN, KINDS, SHORT, SLOWED, raw, scale},
};

pub(crate) const CASES: &[Case] = &[
    Case {
        name: "equal_pairs_pass_and_worse_guarded_metrics_never_do",
        needs: &[],
        test: equal_pairs_pass_and_worse_guarded_metrics_never_do,
    },
    Case {
        name: "percentile_requirement_is_rarely_met_by_chance",
        needs: &[],
        test: percentile_requirement_is_rarely_met_by_chance,
    },
    Case {
        name: "disturbed_results_are_not_judged_and_others_are",
        needs: &[],
        test: disturbed_results_are_not_judged_and_others_are,
    },
];

const PAIRS: u64 = 10;
const TRIALS: u64 = 10;

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
struct Draws(u64);

impl Draws {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * (1.0 - self.uniform()).ln()).sqrt() * (TAU * self.uniform()).cos()
    }

    fn about(&mut self, value: f64, scatter: f64) -> f64 {
        value * (scatter * self.normal()).exp()
    }
}

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

fn table(sandbox: &Sandbox, name: &str, draws: &mut Draws, p99: f64, silent: u64) -> String {
    let mut text =
        "# A path\n\n| Streams | Throughput (Gbit/s) | p99 (us) |\n| --- | --- | --- |\n".to_owned();
    for trial in 0..TRIALS {
        let rate = if trial < silent { 0.0 } else { draws.about(9.4, 0.01) };
        writeln!(text, "| 1 | {rate:.4} | {:.3} |", draws.about(p99, 0.02)).expect("text");
    }
    sandbox.file(name, &text)
}

static RECORD: LazyLock<Value> = LazyLock::new(|| json_of(&raw(KINDS)));

fn lossy(sandbox: &Sandbox, name: &str, draws: &mut Draws, loss: f64) -> String {
    let mut record = RECORD.clone();
    let trials = record["trials"].as_array().expect("trials");
    let is_udp = |trial: &&Value| trial["result"] == "wire/udp" && trial["arm"] == "measure";
    let first = trials.iter().find(is_udp).expect("a UDP trial").clone();
    let trial = |number: u64| {
        let mut trial = first.clone();
        (trial["index"], trial["block"]) = (number.into(), number.into());
        scale(&mut trial["measurement"], "bytes", draws.about(1.0, 0.005));
        let flow = &mut trial["measurement"]["flows"][0];
        for interval in flow["receiver"]["intervals"].as_array_mut().expect("intervals") {
            let count = interval["datagrams"]["count"].as_f64().expect("a count");
            let lost = count * loss + (count * loss).sqrt() * draws.normal();
            interval["datagrams"]["lost"] = (lost.round().max(0.0) as u64).into();
        }
        trial
    };
    record["trials"] = (0..TRIALS).map(trial).collect();
    record["header"]["blocks"] = TRIALS.into();
    record["header"]["id"] = name.trim_end_matches(".json").into();
    sandbox.file(name, &record.to_string())
}

fn passes(sandbox: &Sandbox, a: &str, b: &str) -> bool {
    let output = sandbox.plumb(&["check", b, "--against", a, "--max-loss", "5%", "--json"]);
    json_of(&output.out)["gate"]["outcome"] == "passed"
}

type Pair = fn(&Sandbox, &mut Draws) -> [String; 2];

pub(crate) fn equal_pairs_pass_and_worse_guarded_metrics_never_do() {
    let sandbox = sandbox();
    let cases: [(&str, bool, Pair); 5] = [
        ("equal tables", true, |at, draws| ["a.md", "b.md"].map(|name| table(at, name, draws, 27.0, 0))),
        ("equal loss", true, |at, draws| ["a.json", "b.json"].map(|name| lossy(at, name, draws, 1e-4))),
        ("longer p99", false, |at, draws| {
            [("a.md", 27.0), ("b.md", 800.0)].map(|(name, p99)| table(at, name, draws, p99, 0))
        }),
        ("silent trials", false, |at, draws| {
            [("a.md", 0), ("b.md", 7)].map(|(name, silent)| table(at, name, draws, 27.0, silent))
        }),
        ("more loss", false, |at, draws| {
            [("a.json", 1e-4), ("b.json", 0.015)].map(|(name, loss)| lossy(at, name, draws, loss))
        }),
    ];
    for (name, is_equal, pair) in cases {
        let passed = (0..PAIRS).filter(|seed| {
            let [a, b] = pair(&sandbox, &mut Draws(*seed));
            passes(&sandbox, &a, &b)
        });
        let passed = passed.count() as u64;
        assert!(if is_equal { passed >= PAIRS - 1 } else { passed == 0 }, "{name}: {passed} of {PAIRS} pass");
    }
}

fn log(sandbox: &Sandbox, draws: &mut Draws, messages: usize, p99: f64) -> String {
    let middle = p99 * (-0.3 * 2.326_348_f64).exp();
    let mut text = "------------------------------\ntest was performed using the following parameters: \
                    --mps=300 --burst=1 --reply-every=1 --msg-size=14 --time=1 --full-rtt\n\
                    ------------------------------\npacket, txTime(sec), rxTime(sec), rtt(usec)\n"
        .to_owned();
    for packet in 0..messages {
        let (sent, time) = (2.0 + packet as f64 / 1000.0, draws.about(middle, 0.3));
        writeln!(text, "{packet}, {sent:.9}, {:.9}, {time:.3}", sent + time / 1e6).expect("text");
    }
    sandbox.file("rtt.csv", &text)
}

pub(crate) fn percentile_requirement_is_rarely_met_by_chance() {
    let sandbox = sandbox();
    let runs = 25;
    let met = |messages: usize, p99: f64| {
        let is_met = |seed: &u64| {
            let file = log(&sandbox, &mut Draws(*seed), messages, p99);
            let words = ["report", &file, "--require", "p99<50us", "--format", "json"];
            let report = json_of(&sandbox.succeed(&words).out);
            report["trade_offs"]["configurations"][0]["compliance"] == "met"
        };
        (0..runs).filter(is_met).count()
    };
    for messages in [20, 250, 1000] {
        let wrong = met(messages, 79.0);
        assert!(wrong <= 1, "{messages} messages: {wrong} of {runs}");
    }
    let right = met(1000, 30.0);
    assert!(right >= 20, "{right} of {runs}");
}

pub(crate) fn disturbed_results_are_not_judged_and_others_are() {
    let sandbox = sandbox();
    let a = json_of(&raw(GOLDEN));
    let mut b = a.clone();
    b["header"]["id"] = "disturbed".into();
    for trial in b["trials"].as_array_mut().expect("trials") {
        if trial["result"] == SLOWED || trial["result"] == SHORT {
            scale(&mut trial["measurement"], "bytes", 0.5);
        }
        if trial["result"] == SLOWED {
            let by =
                json!({"kind": "disturbed", "share": 0.8, "processes": [{"process": "cc1", "cpus": 1.2}]});
            trial["warnings"] = json!([by]);
        }
    }
    let [a, b] = [("a.json", &a), ("b.json", &b)].map(|(name, it)| sandbox.file(name, &it.to_string()));
    let compared = json_of(&sandbox.succeed(&["compare", &a, &b, "--json"]).out);
    let reported = json_of(&sandbox.succeed(&["report", &b, "--format", "json"]).out);
    let of = |document: &Value, key: &str, id: &str| {
        let results = document["results"].as_array().expect("results");
        results.iter().find(|it| it[key] == id).expect("the result").clone()
    };
    for (id, between, within) in [(SLOWED, "unknown", "unclear"), (SHORT, "worse", "lower")] {
        assert_eq!(of(&compared, "result", id)["verdict"], between, "{id}: {compared}");
        assert_eq!(of(&reported, "id", id)["against_baseline"]["verdict"], within, "{id}: {reported}");
    }
}
