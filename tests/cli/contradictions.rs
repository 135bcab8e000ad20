//! Tests that no output contradicts itself, on records for which careless summaries would.

use std::{fs, process::Stdio, thread, time::Duration};

use plumb_tests::{Case, Need, Output, Sandbox, signal, trials, wire};
use serde_json::{Value, json};
use workload::LatencyHistogram;

use crate::{
    agreement::{list, pages},
    ends::Server,
    printed::{Printed, words},
    sandbox,
    stored_runs::{Csv, SHORT, SILENT, SLOWED, golden, scale, with_record},
};

pub(crate) const CASES: &[Case] = &[
    Case {
        name: "stalling_client_prints_no_impossible_interval",
        needs: &[],
        test: stalling_client_prints_no_impossible_interval,
    },
    Case {
        name: "own_single_trial_has_no_interval_in_any_format",
        needs: &[],
        test: own_single_trial_has_no_interval_in_any_format,
    },
    Case {
        name: "interval_of_an_imported_trial_is_marked_and_positive",
        needs: &[],
        test: interval_of_an_imported_trial_is_marked_and_positive,
    },
    Case {
        name: "design_and_report_judge_the_same_trials_alike",
        needs: &[Need::Root],
        test: design_and_report_judge_the_same_trials_alike,
    },
    Case {
        name: "result_has_one_median_in_every_format",
        needs: &[],
        test: result_has_one_median_in_every_format,
    },
    Case {
        name: "rankings_follow_the_printed_numbers",
        needs: &[],
        test: rankings_follow_the_printed_numbers,
    },
];

/// Gbit/s of 21 intervals, three far above the others. A symmetric interval of the mean includes zero.
fn bursts() -> impl Iterator<Item = f64> {
    (0..21).map(|at| if [0, 1, 13].contains(&at) { 60.0 } else { 0.2 * f64::from(at * 7 % 5 + 1) })
}

fn steady() -> impl Iterator<Item = f64> {
    (0..20).map(|at| 10.0 + 0.2 * f64::from(at * 7 % 5 - 2))
}

/// Returns the ends of all intervals such as `(9.9 to 10.1, 95 %)`.
fn intervals(page: &str) -> Vec<[f64; 2]> {
    let interval = |text: &str| {
        let (low, rest) = Printed::read(text)?;
        let (high, _) = Printed::read(rest.strip_prefix(" to ")?)?;
        Some([low.value, high.value])
    };
    page.split('(').skip(1).filter_map(interval).collect()
}

/// The server stalls again and again, so the rate varies between nothing and bursts.
fn stalling_client_prints_no_impossible_interval() {
    check_stalling_client(&["client", "-t", "1"], &[130], 30);
    check_stalling_client(&["client", "-t", "3"], &[130], 30);
    check_stalling_client(&["client", "-t", "3", "--reverse"], &[900, 700, 600, 100, 500], 70);
}

fn check_stalling_client(client: &[&str], stalls: &[u64], between: u64) {
    let sandbox = sandbox();
    let server = Server::start(&sandbox, &[]);
    let mut command = sandbox.command(&server.words(client));
    let mut client = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("plumb was built");
    thread::sleep(Duration::from_millis(500));
    let mut stalls = stalls.iter().copied().cycle();
    while client.try_wait().expect("a child of this test").is_none() {
        for (name, millis) in [("STOP", stalls.next().expect("endless")), ("CONT", between)] {
            signal(server.child.id(), name);
            thread::sleep(Duration::from_millis(millis));
        }
    }
    let output = Output::from(client.wait_with_output().expect("a child of this test"));
    assert_eq!(output.status, Some(0), "{output:?}");
    let page = words("terminal", &output.out);
    let is_marked = page.contains("variation between trials is not included");
    assert_eq!(is_marked, !intervals(&page).is_empty(), "{page}");
    for line in output.out.replace('\u{a0}', " ").lines() {
        let value = line.trim_start().split_once("  ").map_or(line, |(_, value)| value);
        if let (Some((value, _)), [[low, high]]) = (Printed::read(value), intervals(value).as_slice()) {
            assert!(*low >= 0.0 && value.allows(*low, *high), "{line}: {page}");
        }
    }
    check_has_no_interval(&sandbox);
}

fn check_has_no_interval(sandbox: &Sandbox) {
    for result in list(&sandbox.findings("latest"), "results") {
        let value = &result["value"];
        assert_eq!((&value["trials"], &value["interval"]), (&json!(1), &Value::Null), "{result}");
    }
    for (format, page) in pages(sandbox) {
        assert_eq!(intervals(&page), Vec::<[f64; 2]>::new(), "{format}: {page}");
    }
    let rows = Csv::reported(sandbox, "csv");
    for row in 0..rows.rows.len() {
        assert_eq!(["low", "high", "confidence"].map(|column| rows.field(row, column)), [""; 3]);
    }
    for (name, picture) in pictures(sandbox) {
        assert!(!picture.contains("class=\"iv"), "{name} draws an interval: {picture}");
    }
}

fn pictures(sandbox: &Sandbox) -> Vec<(String, String)> {
    let folder = sandbox.home().join("pictures");
    let _ = sandbox.succeed(&["plot", "latest", "-o", &format!("{}/", folder.display())]);
    let files = fs::read_dir(folder).expect("a folder").map(|file| file.expect("a file").path());
    let read = |path: std::path::PathBuf| {
        (path.display().to_string(), fs::read_to_string(&path).expect("a picture"))
    };
    files.map(read).collect()
}

fn own_single_trial_has_no_interval_in_any_format() {
    for rates in [bursts().collect::<Vec<_>>(), steady().collect()] {
        let mut record = golden("single");
        let all = record["trials"].as_array_mut().expect("trials");
        all.retain(|trial| trial["block"] == 0 && trial["arm"] == "measure");
        for flow in all.iter_mut().filter_map(|trial| trial["measurement"]["flows"].get_mut(0)) {
            for end in ["sender", "receiver"] {
                set_series(&mut flow[end]["intervals"], &rates);
            }
        }
        check_has_no_interval(&with_record(&record));
    }
}

fn set_series(intervals: &mut Value, rates: &[f64]) {
    let first = intervals[1].clone();
    let interval = |(at, rate): (u64, &f64)| {
        let mut interval = first.clone();
        (interval["start"], interval["end"]) = ((at * 250_000_000).into(), ((at + 1) * 250_000_000).into());
        interval["bytes"] = ((rate * 1e9 / 8.0 * 0.25) as u64).into();
        interval
    };
    *intervals = (0..).zip(rates).map(interval).collect();
}

fn iperf3_log(rates: &[f64]) -> String {
    let line = |from: usize, to: usize, rate: f64, rest: &str| {
        let mebibytes = rate * 1e9 / 8.0 * (to - from) as f64 / f64::from(1 << 20);
        format!("[  5]   {from}.00-{to}.00   sec  {mebibytes:.0} MBytes  {rate:.3} Gbits/sec{rest}\n")
    };
    let seconds = rates.iter().enumerate();
    let seconds: String = seconds.map(|(at, rate)| line(at, at + 1, *rate, "    0   1.00 MBytes")).collect();
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    let total = |rest| line(0, rates.len(), mean, rest);
    format!(
        "Connecting to host 198.18.0.2, port 5201\n\
         [  5] local 198.18.0.1 port 50000 connected to 198.18.0.2 port 5201\n\
         [ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n{seconds}\
         - - - - - - - - - - - - - - - - - - - - - - - - -\n\
         [ ID] Interval           Transfer     Bitrate         Retr\n{}{}\niperf Done.\n",
        total("    0             sender"),
        total("                  receiver")
    )
}

fn interval_of_an_imported_trial_is_marked_and_positive() {
    for (rates, has_interval) in [(bursts().collect::<Vec<_>>(), false), (steady().collect(), true)] {
        let sandbox = sandbox();
        let _ = sandbox.succeed(&["import", &sandbox.file("client.txt", &iperf3_log(&rates))]);
        let value = &sandbox.findings("latest")["results"][0]["value"];
        assert_eq!((&value["trials"], value["interval"].is_object()), (&json!(1), has_interval), "{value}");
        for (format, page) in pages(&sandbox) {
            assert_eq!(!intervals(&page).is_empty(), has_interval, "{format}: {page}");
            assert!(intervals(&page).iter().all(|[low, _]| *low > 0.0), "{format}: {page}");
            assert_eq!(page.contains("*: within one trial"), has_interval, "{format}: {page}");
        }
    }
}

const SIZES: &str = "[factors.message]\nvary = \"message\"\nvalues = [\"128KiB\", 512, \"4KiB\"]\n";
const DISTURBED: &str = "wire/throughput/message=512";

/// The disturbed result in each block: its rate, and whether other work disturbs the trial.
type Trials = &'static [(f64, bool)];

/// Returns an unfinished run that spends its trials on undecided comparisons. Other results differ clearly.
fn open_run(measured: &Value, of_disturbed: Trials) -> Sandbox {
    let mut record = measured.clone();
    (record["header"]["state"], record["ends"]) = ("unfinished".into(), json!([]));
    record["header"]["design"]["until_clear"] = true.into();
    let all = record["trials"].as_array_mut().expect("trials");
    all.retain(|trial| trial["block"].as_u64() < Some(of_disturbed.len() as u64));
    for trial in all {
        let block = trial["block"].as_u64().expect("a block") as usize;
        let (rate, is_disturbed) = match trial["result"].as_str().expect("an ID") {
            DISTURBED => of_disturbed[block],
            id => (if id.ends_with("=128KiB") { 10e9 } else { 3e9 }, false),
        };
        set_rate(trial, rate * (1.0 + 0.01 * (block % 3) as f64));
        let by = json!({"kind": "disturbed", "share": 0.8, "processes": [{"process": "cc1", "cpus": 1.2}]});
        // With two discarded attempts, the resumed run does not repeat the trial.
        let discarded = json!({"started": trial["started"], "reason": by});
        trial["discarded"] = if is_disturbed { json!([discarded, discarded]) } else { json!([]) };
        trial["warnings"] = if is_disturbed { json!([by]) } else { json!([]) };
    }
    with_record(&record)
}

fn set_rate(trial: &mut Value, rate: f64) {
    for end in ["sender", "receiver"] {
        let intervals = trial["measurement"]["flows"][0][end]["intervals"].as_array_mut();
        for interval in intervals.expect("intervals") {
            let nanos =
                interval["end"].as_f64().expect("a time") - interval["start"].as_f64().expect("a time");
            interval["bytes"] = ((rate / 8e9 * nanos) as u64).into();
        }
    }
}

/// Returns the IDs of results with decided comparisons, as reported by the section on the choice of trials.
fn check_decided(sandbox: &Sandbox) -> Vec<String> {
    let findings = sandbox.findings("latest");
    let results = list(&findings, "results");
    let of_steps = list(&findings, "effects").iter().map(|it| (&it["result"], &it["change"]));
    let changes = of_steps.chain(results.iter().map(|it| (&it["id"], &it["against_baseline"])));
    let unclear: Vec<&Value> =
        changes.filter(|(_, change)| change["verdict"] == "unclear").map(|(id, _)| id).collect();
    let decided = results.iter().filter(|result| result["ended"]["reason"]["kind"] == "clear");
    let decided: Vec<&Value> = decided.map(|result| &result["id"]).collect();
    assert!(decided.iter().all(|id| !unclear.contains(id)), "{decided:?} are decided, {unclear:?} unclear");
    check_counts(sandbox, results);
    decided.iter().map(|id| id.as_str().expect("an ID").to_owned()).collect()
}

fn check_counts(sandbox: &Sandbox, results: &[Value]) {
    let (rows, stored) = (Csv::reported(sandbox, "csv"), sandbox.record());
    let section = sandbox.succeed(&["report", "--section", "design", "--format", "markdown"]).out;
    for (row, result) in results.iter().enumerate().filter(|(_, result)| !result["ended"].is_null()) {
        let value = &result["value"]["trials"];
        let line = section.lines().find(|line| line.contains(result["label"].as_str().expect("a label")));
        let cells: Vec<&str> = line.expect("its row").split('|').map(str::trim).collect();
        assert_eq!([cells[2], rows.field(row, "trials")], [&value.to_string(); 2], "{section}");
        let made = trials(&stored).iter();
        let made = made.filter(|trial| trial["result"] == result["id"] && trial["arm"] == "measure").count();
        assert_eq!(result["ended"]["trials"], made, "{result}");
    }
    let made = format!("{} trials of", trials(&stored).len());
    assert!(section.contains(&made), "{made}: {section}");
}

fn design_and_report_judge_the_same_trials_alike() {
    const OUTLIERS: Trials =
        &[(1e9, false), (2e10, true), (1e9, false), (1e9, false), (5e7, true), (1e9, false), (1e9, false)];
    // Clear with the disturbed trials, unclear without them.
    const DECISIVE: Trials = &[
        (10e9, false),
        (8e9, false),
        (10.2e9, false),
        (7.9e9, false),
        (9.1e9, false),
        (8e9, true),
        (8e9, true),
        (8e9, true),
        (8e9, true),
    ];
    const MOST: Trials = &[(1e9, true), (1e9, true), (1e9, true), (1e9, false), (1e9, false)];
    let measured = sandbox();
    let text = wire(10, "60ms").replace("[schedule]\n", &format!("{SIZES}[schedule]\n"));
    let _ = measured.succeed(&["run", &measured.file("sizes.toml", &text), "--probe", "none", "--quiet"]);
    let measured = measured.record();
    for (of_disturbed, is_decided) in [(OUTLIERS, true), (DECISIVE, false), (MOST, false)] {
        let sandbox = open_run(&measured, of_disturbed);
        let before = trials(&sandbox.record()).len();
        let _ = sandbox.succeed(&["run", "--resume", "--quiet"]);
        let (decided, after) = (check_decided(&sandbox), trials(&sandbox.record()).len());
        assert_eq!(after == before, is_decided, "{before} then {after} trials; decided: {decided:?}");
    }
}

/// Returns round trips that differ by up to a tenth from `middle`.
fn round_trips(middle: u64, count: u64) -> LatencyHistogram {
    let mut times = LatencyHistogram::new();
    for step in 0..count {
        times.record(Duration::from_nanos(middle * 9 / 10 + middle / 5 * step / count).into());
    }
    times
}

fn result_has_one_median_in_every_format() {
    const ID: &str = "vxlan-to-vxlan/ping/underlay-offload=on/vxlan-offload=on";
    let (mut record, mut pooled) = (golden("medians"), LatencyHistogram::new());
    for trial in record["trials"].as_array_mut().expect("trials").iter_mut().filter(|it| it["result"] == ID) {
        let middles = [31_000, 37_000, 41_000, 47_000, 53_000, 140_000];
        let block = trial["block"].as_u64().expect("a block") as usize;
        let times = round_trips(middles[block], if block == 5 { 9000 } else { 500 });
        pooled.merge(&times);
        trial["measurement"]["round_trips"] = serde_json::to_value(&times).expect("JSON");
    }
    let sandbox = with_record(&record);
    let findings = sandbox.findings("latest");
    let result = list(&findings, "results").iter().find(|it| it["id"] == ID).expect("the result");
    let value = result["value"]["estimate"].as_f64().expect("a value");
    let shown = format!("{:.1} µs", value / 1e3);
    let middle = pooled.quantile(0.5).expect("times").0 as f64;
    let pooled = format!("{:.0} µs", middle / 1e3);
    for (format, page) in pages(&sandbox) {
        assert!(page.contains(&shown), "{shown} is not in {format}");
        assert!(!page.contains(&pooled), "{pooled}, not {shown}, is in {format}");
    }
    for (name, picture) in pictures(&sandbox) {
        assert!(!words("html", &picture).contains(&pooled), "{pooled}, not {shown}, is in {name}");
    }
    let rows = Csv::reported(&sandbox, "csv");
    let cells = rows.rows.iter().flatten().filter_map(|cell| cell.parse::<f64>().ok());
    let same: Vec<f64> = cells.filter(|cell| (cell / middle - 1.0).abs() < 1e-6).collect();
    assert!(same.is_empty(), "{same:?}: the pooled median is not {value}");
}

const PATH: &str = "vxlan-to-vxlan";

/// Streams with 1, 2 and 4 queues. `speeds` are the relative speeds of the blocks. The first setting lacks slow ones.
fn swept(speeds: [f64; 6]) -> Value {
    const RATES: [f64; 3] = [10.0 / 16.0, 10.3 / 4.8, 5.0 / 12.0];
    const CPUS: [[f64; 6]; 3] = [[2.0; 6], [1.0, 1.0, 2.1, 2.1, 2.1, 2.1], [2.0; 6]];
    let mut record = golden("swept");
    let place = |id: &Value| [SILENT, SLOWED, SHORT].iter().position(|known| id == known);
    let kept = |id: &Value| place(id).is_some() || id == "node-to-node/bulk/underlay-offload=on";
    let results = record["header"]["results"].as_array_mut().expect("results");
    results.retain(|result| kept(&result["id"]));
    for result in results {
        if let Some(place) = place(&result["id"]) {
            let levels = json!({"queues": (1 << place).to_string()});
            (result["path"], result["levels"]) = (PATH.into(), levels);
        }
    }
    let speed = |trial: &Value| speeds[trial["block"].as_u64().expect("a block") as usize];
    let all = record["trials"].as_array_mut().expect("trials");
    all.retain(|trial| kept(&trial["result"]) && !(trial["result"] == SILENT && speed(trial) < 0.85));
    for trial in all {
        let mut by = speed(trial);
        if let Some(place) = place(&trial["result"]) {
            by *= RATES[place];
            trial["cpu"] = busy(CPUS[place][trial["block"].as_u64().expect("a block") as usize]);
        }
        scale(&mut trial["measurement"], "bytes", by);
    }
    record
}

fn busy(cpus: f64) -> Value {
    let system = (cpus * 1e9) as u64;
    let machine = json!({"cpus": 8, "elapsed": 1_000_000_000, "user": 0, "system": system, "irq": 0, "softirq": 0,
        "steal": 0, "idle": 8_000_000_000 - system, "by_cpu": []});
    json!({"machine": machine, "threads": []})
}

fn median(values: &Value) -> f64 {
    let mut values: Vec<f64> = values.as_array().expect("values").iter().filter_map(Value::as_f64).collect();
    values.sort_by(f64::total_cmp);
    (values[(values.len() - 1) / 2] + values[values.len() / 2]) / 2.0
}

/// Returns the quantities before `suffix`, e.g. 5.00 Gbit/s in `5.00 Gbit/s per CPU`.
fn before(text: &str, suffix: &str) -> Vec<Printed> {
    let parts: Vec<&str> = text.split(suffix).collect();
    let quantity = |part: &&str| {
        let start = part.rmatch_indices(' ').nth(1).map_or(0, |(at, _)| at + 1);
        Printed::quantity(&part[start..]).expect(text).0
    };
    parts[..parts.len() - 1].iter().map(quantity).collect()
}

struct Sweep {
    findings: Value,
}

impl Sweep {
    fn of(speeds: [f64; 6]) -> Self {
        Self { findings: with_record(&swept(speeds)).findings("latest") }
    }

    fn result(&self, id: &Value) -> &Value {
        list(&self.findings, "results").iter().find(|it| it["id"] == *id).expect("the result")
    }

    fn value(&self, id: &Value) -> f64 {
        self.result(id)["value"]["estimate"].as_f64().expect("a value")
    }

    fn per_cpu(&self, id: &Value) -> f64 {
        let owners = list(self.result(id), "consumers");
        self.value(id) / owners.last().expect("the machine")["value"].as_f64().expect("CPUs")
    }

    /// Returns the recommended result and the reason that contains `phrase`.
    fn reason(&self, objective: &str, phrase: &str) -> (&Value, String) {
        let all = list(&self.findings["answers"][0], "recommendations");
        let it = all.iter().find(|it| it["objective"] == objective).expect("a recommendation");
        assert_eq!(it["value"].as_f64(), Some(self.value(&it["result"])), "{it}");
        let mut reasons = list(it, "reason").iter().map(|it| words("json", it.as_str().expect("text")));
        let reason = reasons.find(|reason| reason.contains(phrase));
        (&it["result"], reason.unwrap_or_else(|| panic!("no {phrase} in {it}")))
    }

    fn check_knee(&self) {
        let knee = &self.findings["answers"][0]["knees"][0];
        let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
        for (level, value) in list(knee, "curve").iter().map(|it| (&it[0], it[1].as_f64())) {
            let shown = list(&self.findings, "results").iter().find(|it| it["levels"]["queues"] == *level);
            assert_eq!(shown.expect("a setting")["value"]["estimate"].as_f64(), value, "{knee}");
            if list(knee, "plausible").contains(level) {
                let value = value.expect("a value");
                (least, most) = (least.min(value), most.max(value));
            }
        }
        let plateau = knee["plateau"].as_f64().expect("a value");
        assert!((least * (1.0 - 1e-9)..=most * (1.0 + 1e-9)).contains(&plateau), "{plateau}: {knee}");
    }
}

fn rankings_follow_the_printed_numbers() {
    let [one, two] = [SILENT, SLOWED].map(Value::from);
    let sweep = Sweep::of([1.0; 6]);
    let (best, text) = sweep.reason("efficient", "per CPU; next");
    let other = if *best == one { &two } else { &one };
    let printed = before(&text, " per CPU");
    assert!(printed.len() == 2 && printed[0].value >= printed[1].value, "{text}");
    for (printed, id) in printed.iter().zip([best, other]) {
        let quotient = sweep.per_cpu(id);
        assert!(printed.rounds(quotient), "{text}: {quotient}");
    }

    let sweep = Sweep::of([1.0, 0.7, 1.3, 0.8, 1.1, 0.9]);
    let medians = [&one, &two].map(|id| median(&sweep.result(id)["values"]));
    let values = [&one, &two].map(|id| sweep.value(id));
    assert!(
        medians[0] > medians[1] && values[0] < values[1],
        "{medians:?}, in another order than {values:?}"
    );
    let (_, text) = sweep.reason("max", "highest of 3 settings");
    let highest = text.strip_prefix("The highest of 3 settings is ").unwrap_or(&text);
    assert!(Printed::quantity(highest).expect(&text).0.rounds(values[1]), "{text}: {values:?}");
    sweep.check_knee();
}
