//! Imports generated posts. They contain logs and tables in varying order, after varying commands, between text in
//! several languages, and may be cut off. The number of results is known, and every number must come from the lines of
//! its own test.

use std::{convert::Infallible, ops::RangeInclusive};

use import::{Assembler, Done, Options, read};
use workload::{EndSeries, Measurement};

use crate::imported::meta;

const POSTS: u64 = 24;

/// SplitMix64 (Steele, Lea & Flood, OOPSLA 2014).
struct Draw(u64);

impl Draw {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % most
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }

    fn number(&mut self) -> f64 {
        (100 + self.below(899)) as f64 / 100.0
    }
}

const WRAPPERS: [&str; 12] = [
    "",
    "$ ",
    "root@a:~# ",
    "+ sudo ",
    "$ ip netns exec ns1 ",
    "kubectl exec -it deploy/client -- ",
    "$ docker run --rm --net host image ",
    "ssh root@a ",
    "$ taskset -c 3 numactl -N 0 ",
    "PS C:\\> .\\",
    "- `",
    "mininet> h1 ",
];

const WORDS: [&str; 10] = [
    "With the new kernel:",
    "Jetzt mit größerer MTU:",
    "튜닝 후:",
    "Après le changement :",
    "Ahora sin cortafuegos",
    "## Another host",
    "# in the container",
    "1. second setup",
    "再試行（キュー 8）",
    "**tuned**",
];

struct Block {
    text: String,
    /// Number of tests in the block: 0 for text and for output that only causes a note.
    tests: usize,
    is_output: bool,
}

fn words(text: impl Into<String>) -> Block {
    Block { text: text.into(), tests: 0, is_output: false }
}

fn output(text: String, tests: usize) -> Block {
    Block { text, tests, is_output: true }
}

fn summary(draw: &mut Draw) -> String {
    let (sent, received) = (draw.number(), draw.number());
    let gigabytes = |rate: f64| rate * 1e9 * 10.0 / 8.0 / 1_073_741_824.0;
    format!(
        "[ ID] Interval           Transfer     Bitrate         Retr\n\
         [  5]   0.00-10.00  sec  {:.2} GBytes  {sent:.2} Gbits/sec  {:3}             sender\n\
         [  5]   0.00-10.00  sec  {:.2} GBytes  {received:.2} Gbits/sec                  receiver\n",
        gigabytes(sent),
        draw.below(999),
        gigabytes(received)
    )
}

fn apart(draw: &mut Draw) -> (Vec<Block>, usize) {
    let tests = 2 + draw.below(3) as usize;
    let mut blocks = Vec::new();
    for at in 0..tests {
        blocks.push(words(format!("{} {at}", draw.of(&WORDS))));
        blocks.push(output(summary(draw), 1));
    }
    (blocks, tests)
}

const LOOPS: [&str; 8] = [
    "for i in 1 2 3; do iperf3 -c b -R; done",
    "for i in 1 2 3\ndo\n  iperf3 -c b -R\ndone",
    "for i in a b c\n> do\n> sudo iperf3 -c b -R\n> done",
    "while sleep 1\ndo iperf3 -c b -R\ndone",
    "for i in 1 2 3; do\n  ssh root@a iperf3 -c b -R | tail -n 4\ndone",
    "seq 3 | xargs -I{} iperf3 -c b -R",
    "1..3 | % { .\\iperf3.exe -c b -R }",
    "foreach ($i in 1..3) { iperf3.exe -c b -R }",
];

fn looped(draw: &mut Draw) -> (Vec<Block>, usize) {
    let mut blocks = vec![words(format!("{}{}", draw.of(&["", "$ ", "PS> "]), draw.of(&LOOPS)))];
    blocks.extend((0..3).map(|_| output(summary(draw), 1)));
    (blocks, 1)
}

/// Interleaved rows of two clients must cause a note, and must not be imported.
fn interleaved(draw: &mut Draw) -> (Vec<Block>, usize) {
    let begin = |port: u64| {
        format!(
            "Connecting to host b, port {port}\n[  5] local 198.18.0.1 port 4{port} connected to 198.18.0.2 port {port}\n\
             [ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n"
        )
    };
    let row = |start: u64, rate: f64| {
        let gigabytes = rate * 1e9 / 8.0 / 1_073_741_824.0;
        format!(
            "[  5]   {start}.00-{}.00   sec  {gigabytes:.2} GBytes  {rate:.2} Gbits/sec    0   3.00 MBytes\n",
            start + 1
        )
    };
    let rates = [1.0 + draw.number(), 20.0 + draw.number()];
    let mut text = begin(5201) + &row(0, rates[0]) + &begin(5202) + &row(0, rates[1]);
    for start in 1..3 + draw.below(3) {
        let first = draw.below(2) as usize;
        text += &(row(start, rates[first]) + &row(start, rates[1 - first]));
    }
    text += &summary(draw);
    text += "\niperf Done.\n";
    text += &summary(draw);
    text += "\niperf Done.\n";
    let apart = output(format!("{}{}", begin(5203), summary(draw)), 1);
    (vec![words("$ iperf3 -c b & iperf3 -c b -p 5202"), output(text, 0), apart], 1)
}

fn commands(draw: &mut Draw) -> (Vec<Block>, usize) {
    let mut options = vec!["", " -R", " -P 4", " -M 1400", " -w 4M", " -Z", " --dscp ef", " -n 1G"];
    let results = 2 + draw.below(3) as usize;
    let mut blocks = Vec::new();
    for _ in 0..results {
        let option = options.remove(draw.below(options.len() as u64) as usize);
        let wrapper = draw.of(&WRAPPERS);
        let end = if wrapper.ends_with('`') { "`" } else { "" };
        blocks.push(words(format!("{wrapper}iperf3 -c b{option}{end}")));
        blocks.push(output(summary(draw), 1));
    }
    (blocks, results)
}

fn datagrams(draw: &mut Draw) -> (Vec<Block>, usize) {
    let tests = 1 + draw.below(3) as usize;
    let mut blocks = Vec::new();
    for at in 0..tests {
        let (rate, total) = (draw.number(), 10_000 + draw.below(90_000));
        let lost = total * draw.below(90) / 100;
        blocks.push(words(format!("{} {at}", draw.of(&WORDS))));
        blocks.push(output(
            format!(
                "Test Complete. Summary Results:\n\
                 [ ID] Interval           Transfer     Bandwidth       Jitter    Lost/Total Datagrams\n\
                 [  4]   0.00-10.00  sec  {:.2} GBytes  {rate:.2} Gbits/sec  0.001 ms  {lost}/{total} ({}%)\n\
                 [  4] Sent {total} datagrams\n",
                rate * 10.0 / 8.0 / 1.073_741_824,
                lost * 100 / total
            ),
            1,
        ));
    }
    (blocks, tests)
}

fn quantities(draw: &mut Draw) -> (Vec<Block>, usize) {
    let latency = format!(
        "sockperf: == version #3.10-no.git ==\n\
         sockperf: [Valid Duration] RunTime=1.000 sec; SentMessages=5000; ReceivedMessages=5000\n\
         sockperf: ====> avg-latency={:.3} (std-dev=8.000)\nsockperf: ---> percentile 50.000 = {:.3}\n\
         sockperf: ---> <MIN> observation = 0.100\n",
        draw.number(),
        draw.number()
    );
    let rate = format!(
        "MIGRATED TCP STREAM TEST from 0.0.0.0 () port 0 AF_INET to b () port 0 AF_INET\n\
         Throughput,Throughput Units\n{:.2},10^6bits/s\n",
        draw.number()
    );
    let calls = |draw: &mut Draw| {
        let calls = 10 + draw.below(90);
        format!(
            "% time     seconds  usecs/call     calls    errors syscall\n\
             100.00    0.240000           6     {calls}           read\n\
             100.00    0.240000                 {calls}           total\n"
        )
    };
    // Counts after a test belong to that test.
    let mut outputs = vec![calls(draw), calls(draw), latency, rate];
    if draw.below(2) == 0 {
        outputs.swap(2, 3);
    }
    let mut blocks = vec![words("## Results")];
    for (output, at) in outputs.into_iter().zip(0..) {
        blocks.push(words(format!("{} {at}", draw.of(&WORDS[..5]))));
        blocks.push(self::output(output, 1));
    }
    (blocks, 4)
}

fn selectors(draw: &mut Draw) -> (Vec<Block>, usize) {
    let tests = 1 + draw.below(3) as usize;
    let mut blocks = Vec::new();
    for at in 0..tests {
        let wrapper = draw.of(&WRAPPERS[..8]);
        let (mean, rate) = (draw.number(), draw.number());
        let command = |layout: &str| {
            format!("{wrapper}netperf -t TCP_RR -H server{at} -- -{layout} mean_latency,transaction_rate\n")
        };
        blocks.push(output(
            match draw.below(4) {
                0 => format!("{}MEAN_LATENCY={mean:.2}\nTRANSACTION_RATE={rate:.2}\n", command("k")),
                1 => format!(
                    "{}Mean Latency Microseconds,Transaction Rate Tran/s\n{mean:.2},{rate:.2}\n",
                    command("o")
                ),
                2 => format!("{}{mean:.2}         {rate:.2}\n1 2 3\n", command("O")),
                _ => format!(
                    "{}Mean         Transaction\nLatency      Rate\nMicroseconds Tran/s\n{mean:.2}         {rate:.2}\n",
                    command("O")
                ),
            },
            1,
        ));
    }
    (blocks, tests)
}

fn tables(draw: &mut Draw) -> (Vec<Block>, usize) {
    let (one, other, third) = (draw.number(), draw.number(), draw.number());
    let (text, results) = match draw.below(9) {
        0 => (format!("| CNI | Rate |\n|---|---|\n| a | **{one:.2} Gbps** |\n| b | {other:.2} Gbps |\n"), 2),
        1 => (
            format!(
                "+-----+-------------+\n| CNI | Rate Gbit/s |\n+-----+-------------+\n| a   | {one:.2}        |\n\
                 | b   | {other:.2}        |\n+-----+-------------+\n"
            ),
            2,
        ),
        2 => (
            format!(
                "CNI   Bandwidth         Note\na     {one:.2} Gbits/sec   x\nb     {other:.2} Gbits/sec   y\n"
            ),
            2,
        ),
        3 => (format!("cni,throughput (Gbit/s)\na,{one:.2}\nb,{other:.2}\n"), 2),
        4 => (
            format!(
                "| CNI | MTU=1500 | MTU=9000 |\n|---|---|---|\n| a | {one:.2} Gbps | {other:.2} Gbps |\n| b | {third:.2} Gbps | n/a |\n"
            ),
            3,
        ),
        5 => (
            format!(
                "Throughput in Gbit/s:\n\n| CNI | 1 stream | 4 streams |\n|---|---|---|\n| a | {one:.2} | {other:.2} |\n| b | {third:.2} | n/a |\n"
            ),
            3,
        ),
        6 => (
            format!(
                "| CNI | Run 1 (Gbit/s) | Run 2 |\n|---|---|---|\n| a | {one:.2} | {:.2} |\n| b | {other:.2} | {:.2} |\n",
                one * 1.01,
                other * 0.99
            ),
            2,
        ),
        7 => (
            format!(
                "## Latency (us)\n\n| CNI | p50 | p99 |\n|---|---|---|\n| a | {one:.2} | {:.2} |\n",
                one * 2.0
            ),
            1,
        ),
        _ => {
            (format!("| Kernel | Rate (Gbit/s) |\n|---|---|\n| 6.1 | {one:.2} |\n| 6.12 | {other:.2} |\n"), 2)
        }
    };
    let trials = if text.contains("Run 2") { 2 } else { 1 };
    (vec![words(draw.of(&WORDS)), output(text, results * trials)], results)
}

/// Output of other tools between tests must cause a note, and must not be imported.
fn foreign(draw: &mut Draw) -> (Vec<Block>, usize) {
    let others = [
        "HOST: a                Loss%   Snt   Last   Avg  Best  Wrst StDev\n  1.|-- 198.18.0.1   0.0%    60    0.6   0.5   0.2   3.1   0.4\n",
        "tcp_bw:\n    bw              =   331 MB/sec\n",
        "[ ID]   Protocol    Interval      Bits/s\n",
        "NIC statistics:\n     rx_packets: 12345\n",
        "5 packets transmitted, 5 received, 0% packet loss, time 4005ms\n",
    ];
    let other = draw.of(&others).to_owned();
    (vec![output(summary(draw), 1), output(other, 0)], 1)
}

struct Imported {
    done: Vec<Done>,
    results: usize,
    notes: Vec<String>,
}

fn import(text: &str) -> Imported {
    let mut assembler = Assembler::new(meta());
    let mut done = Vec::new();
    assembler.file("post.md");
    let report = read::<Infallible>("post.md", &mut text.as_bytes(), &Options::default(), &mut |found| {
        done.extend(assembler.take(found));
        Ok(())
    });
    match report {
        Ok(report) => assembler.read(report),
        Err(error) => return Imported { done, results: 0, notes: vec![error.to_string()] },
    }
    let assembled = assembler.finish();
    done.extend(assembled.rest);
    let notes = assembled.header.origin.imported().expect("imported").notes.clone();
    Imported { done, results: assembled.header.results.len(), notes }
}

fn numbers(text: &str, lines: &RangeInclusive<u64>) -> Vec<f64> {
    let lines =
        text.lines().skip(*lines.start() as usize - 1).take((lines.end() - lines.start() + 1) as usize);
    let is_part = |sign: char| sign.is_ascii_digit() || sign == '.';
    lines
        .flat_map(|line| line.split(move |sign| !is_part(sign)).filter_map(|word| word.parse().ok()))
        .collect()
}

fn reported(measurement: &Measurement) -> Vec<f64> {
    match measurement {
        Measurement::Stream(data) => {
            let rate = |end: fn(&workload::Flow) -> &EndSeries| {
                let ends: Vec<&EndSeries> = data.flows.iter().map(end).collect();
                let known = ends.iter().any(|end| !end.intervals.is_empty());
                known.then(|| EndSeries::rate_together(ends.iter().copied()).0)
            };
            [rate(|flow| &flow.sender), rate(|flow| &flow.receiver)].into_iter().flatten().collect()
        }
        Measurement::Reported(data) => data.values.iter().map(|value| value.value).collect(),
        other => panic!("{other:?}"),
    }
}

/// Returns whether a value is a printed number in some unit, half a round trip, or the received fraction of the
/// sent datagrams.
fn follows(value: f64, printed: &[f64]) -> bool {
    let near = |other: f64| (value - other).abs() <= value.abs() * 0.006 + 1e-9;
    let scales = [1.0, 0.01, 1e3, 2e3, 1e6, 1e9];
    let scaled = printed.iter().any(|number| scales.iter().any(|scale| near(number * scale)));
    let ratio = |sent: f64| {
        printed
            .windows(2)
            .any(|pair| pair[1] > 0.0 && pair[0] <= pair[1] && near(sent * 1e9 * (1.0 - pair[0] / pair[1])))
    };
    scaled || printed.iter().any(|sent| ratio(*sent))
}

fn is_named(lines: &RangeInclusive<u64>, notes: &[String]) -> bool {
    let numbers = |note: &String| -> Vec<u64> {
        note.split(|sign: char| !sign.is_ascii_digit()).filter_map(|word| word.parse().ok()).collect()
    };
    notes.iter().flat_map(numbers).any(|line| lines.contains(&line))
}

fn check(kind: &str, seed: u64, (blocks, results): (Vec<Block>, usize)) {
    let mut text = String::new();
    let mut places = Vec::new();
    for block in &blocks {
        let first = text.lines().count() as u64 + 1;
        text.push_str(&block.text);
        text.push_str(if block.text.ends_with('\n') { "\n" } else { "\n\n" });
        places.push(first..=first + block.text.lines().count() as u64 - 1);
    }
    let found = import(&text);
    let context = || format!("{kind} {seed}: {:?}\n{text}", found.notes);
    let expected: usize = blocks.iter().map(|block| block.tests).sum();
    assert_eq!((found.done.len(), found.results), (expected, results), "{}", context());
    for done in &found.done {
        let printed = numbers(&text, &done.lines);
        for value in reported(&done.trial.measurement) {
            assert!(follows(value, &printed), "{value} is not in lines {:?} of {}", done.lines, context());
        }
    }
    for (block, place) in blocks.iter().zip(&places).filter(|(block, _)| block.is_output) {
        let is_read = found
            .done
            .iter()
            .any(|done| done.lines.start() <= place.end() && place.start() <= done.lines.end());
        let wanted = if block.tests > 0 { is_read } else { is_named(place, &found.notes) };
        assert!(wanted, "lines {place:?} are neither read nor named in {}", context());
    }
    cut(kind, seed, &text, &found);
}

/// A file cut at its start or end must not give numbers that it does not contain. A file cut at its end must not give
/// more results than the whole file.
fn cut(kind: &str, seed: u64, text: &str, whole: &Imported) {
    let at = Draw(seed ^ 0xc07).below(text.len() as u64) as usize;
    let at = text.floor_char_boundary(at);
    for part in [&text[..at], &text[at..]] {
        let found = import(part);
        let context = || format!("{kind} {seed} cut at {at}: {:?}\n{part}", found.notes);
        assert!(part.len() + at == text.len() || found.done.len() <= whole.done.len(), "{}", context());
        for done in &found.done {
            let printed = numbers(part, &done.lines);
            for value in reported(&done.trial.measurement) {
                assert!(follows(value, &printed), "{value} is not in {:?} of {}", done.lines, context());
            }
        }
    }
}

fn mixed(draw: &mut Draw) -> (Vec<Block>, usize) {
    let mut all = Vec::new();
    let mut total = 0;
    for heading in ["# One", "# Two"] {
        let (blocks, results) = LOGS[draw.below(LOGS.len() as u64) as usize].1(draw);
        all.push(words(heading));
        all.extend(blocks);
        total += results;
    }
    (all, total)
}

type Kind = fn(&mut Draw) -> (Vec<Block>, usize);

/// Excludes tables, because a file's logs take precedence over them.
const LOGS: [(&str, Kind); 8] = [
    ("apart", apart),
    ("looped", looped),
    ("commands", commands),
    ("datagrams", datagrams),
    ("quantities", quantities),
    ("selectors", selectors),
    ("foreign", foreign),
    ("interleaved", interleaved),
];

#[test]
fn generated_posts_have_the_expected_results() {
    for (kind, generate) in LOGS.into_iter().chain([("tables", tables as Kind), ("mixed", mixed)]) {
        for seed in 0..POSTS {
            check(kind, seed, generate(&mut Draw(seed)));
        }
    }
}
