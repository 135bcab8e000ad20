//! Imports incomplete logs, and logs with prefixes from other programs.

use crate::imported::{all_described, import, import_texts};

struct Case {
    file: &'static str,
    tests: &'static [&'static str],
    notes: &'static [&'static str],
}

const CASES: &[Case] = &[
    Case {
        file: "reverse-rows-left-out.txt",
        tests: &["tcp x4 reverse sent 29.9 Mbit/s received 29.8 Mbit/s retransmits 0 lost 0"],
        notes: &["so the summary is used"],
    },
    Case {
        file: "quoted-gap.txt",
        tests: &["tcp x1 forward sent 355 kbit/s retransmits 9 lost 0"],
        notes: &["so the summary is used", "received bytes are unknown"],
    },
    Case {
        file: "udp-summaries-alone.log",
        tests: &[
            "udp x1 sent 18.1 Mbit/s received 18.0 Mbit/s retransmits 0 lost 0",
            "udp x1 sent 22.4 Mbit/s received 22.3 Mbit/s retransmits 0 lost 0",
            "udp x1 sent 17.6 Mbit/s received 17.5 Mbit/s retransmits 0 lost 0",
            "udp x1 sent 34.2 Mbit/s received 7.99 Mbit/s retransmits 0 lost 22694",
            "udp x1 sent 18.5 Mbit/s received 4.85 Mbit/s retransmits 0 lost 6908",
        ],
        notes: &["18.0 Mbit/s and 22.3 Mbit/s", "and 7.99 Mbit/s", "and 4.85 Mbit/s"],
    },
    Case {
        file: "parallel-rows-left-out.md",
        tests: &["tcp x4 forward sent 70.9 Gbit/s received 70.9 Gbit/s retransmits 8763 lost 0"],
        notes: &["the summary has 495 GiB in 60.00 s"],
    },
    Case {
        file: "summaries-without-heads.md",
        tests: &[
            "tcp x1 forward sent 2.00 Gbit/s received 1.99 Gbit/s retransmits 0 lost 0",
            "tcp x1 forward sent 7.07 Gbit/s received 7.05 Gbit/s retransmits 33354 lost 0",
        ],
        notes: &[],
    },
    Case {
        file: "clock-and-summary-disagree.txt",
        tests: &["tcp x1 forward sent 12.7 Gbit/s received 12.7 Gbit/s retransmits 0 lost 0"],
        notes: &["add up to 36.7 GiB in 30.00 s but the summary has 44.4 GiB in 30.00 s"],
    },
    Case {
        file: "udp-flood.client.txt",
        tests: &["udp x1 forward sent 99.8 Mbit/s received 29.0 Mbit/s retransmits 0 lost 10803"],
        notes: &[],
    },
    Case {
        file: "one-interval-left.client.json",
        tests: &["tcp x1 forward sent 23.5 Gbit/s received 23.5 Gbit/s retransmits 0 lost 0"],
        notes: &["add up to 2.80 GiB in 1.00 s but the summary has 27.4 GiB in 10.00 s"],
    },
    Case {
        file: "sctp.client.txt",
        tests: &["- x1 forward sent 940 Mbit/s received 937 Mbit/s retransmits 0 lost 0"],
        notes: &["uses SCTP"],
    },
    Case {
        file: "sctp-cut-off.server.txt",
        tests: &["- x2 forward received 5.77 Mbit/s retransmits 0 lost 0"],
        notes: &["it was cut off", "uses SCTP"],
    },
    Case {
        file: "sockperf-behind-a-channel.txt",
        tests: &["- p50 176340 mean 177224 standard deviation 4854"],
        notes: &["half round trips"],
    },
    Case {
        file: "sockperf-3.10.txt",
        tests: &["- p50 141818 mean 148766 standard deviation 31436"],
        notes: &["half round trips"],
    },
    Case {
        file: "netperf-under-its-command.txt",
        tests: &["tcp x1 forward throughput 915550000"],
        notes: &[],
    },
    Case { file: "perf-trace-without-title.txt", tests: &["- listed system calls 112578"], notes: &[] },
    Case { file: "perf-trace-of-one-thread.md", tests: &["- listed system calls 165950"], notes: &[] },
    Case {
        file: "flent-version-2.flent",
        tests: &[
            "tcp x1 forward sent 19.7 Mbit/s received 19.7 Mbit/s retransmits 0 lost 0",
            "- 15 round trips",
            "- mean, Ping (ms) UDP BE1 50000000",
        ],
        notes: &["while no stream was running", "unsupported series: `VoIP`"],
    },
    Case { file: "flent-http.flent", tests: &["- mean, HTTP latency 1457500"], notes: &[] },
];

#[test]
fn imports_existing_parts_of_partial_logs() {
    for case in CASES {
        let run = import(&[&format!("partial/{}", case.file)]);
        let mut described = all_described(&run);
        let mut expected: Vec<String> = case.tests.iter().map(|test| (*test).to_owned()).collect();
        described.sort();
        expected.sort();
        assert_eq!(described, expected, "{}: {:?}", case.file, run.notes());
        assert_eq!(run.notes().len(), case.notes.len(), "{}: {:?}", case.file, run.notes());
        for words in case.notes {
            assert!(run.notes().iter().any(|note| note.contains(words)), "{words}: {:?}", run.notes());
        }
    }
}

const TEXTS: &[(&str, &[&str], &[&str])] = &[
    // Only the receiver's rows of a server log, one per test.
    (
        "[  5]   0.00-10.04  sec  1.10 GBytes   940 Mbits/sec                  receiver\n\
         [  5]   0.00-10.04  sec  1.09 GBytes   930 Mbits/sec                  receiver\n",
        &[
            "tcp x1 forward received 940 Mbit/s retransmits 0 lost 0",
            "tcp x1 forward received 930 Mbit/s retransmits 0 lost 0",
        ],
        &[],
    ),
    // Only the sums of two tests.
    (
        "[SUM]   0.00-10.00  sec  10.0 GBytes  8.59 Gbits/sec  12             sender\n\
         [SUM]   0.00-10.00  sec  9.99 GBytes  8.58 Gbits/sec                  receiver\n\
         [SUM]   0.00-10.00  sec  11.0 GBytes  9.45 Gbits/sec    0             sender\n\
         [SUM]   0.00-10.00  sec  11.0 GBytes  9.45 Gbits/sec                  receiver\n",
        &[
            "tcp sent 8.59 Gbit/s received 8.58 Gbit/s retransmits 12 lost 0",
            "tcp sent 9.45 Gbit/s received 9.45 Gbit/s retransmits 0 lost 0",
        ],
        &["only the sums", "only the sums"],
    ),
    // One of several connections, and the sum.
    (
        "$ iperf3 -c 192.0.2.1 -P 8\n\
         [ ID] Interval           Transfer     Bitrate         Retr\n\
         [  5]   0.00-10.00  sec  1.25 GBytes  1.07 Gbits/sec   10             sender\n\
         [  5]   0.00-10.00  sec  1.24 GBytes  1.07 Gbits/sec                  receiver\n\
         ...\n\
         [SUM]   0.00-10.00  sec  10.0 GBytes  8.59 Gbits/sec   92             sender\n\
         [SUM]   0.00-10.00  sec  9.99 GBytes  8.58 Gbits/sec                  receiver\n",
        &["tcp x8 forward sent 8.59 Gbit/s received 8.58 Gbit/s retransmits 92 lost 0"],
        &["some connections are missing"],
    ),
    // Adjacent rows of three tests.
    (
        "[  5]   0.00-1.00   sec   112 MBytes   940 Mbits/sec    0   1.00 MBytes\n\
         [  5]   1.00-2.00   sec   112 MBytes   940 Mbits/sec    3   1.00 MBytes\n\
         [  5]   0.00-1.00   sec   224 MBytes  1.88 Gbits/sec    0   1.00 MBytes\n\
         [  5]   1.00-2.00   sec   224 MBytes  1.88 Gbits/sec    0   1.00 MBytes\n\
         [  5]   0.00-2.00   sec   448 MBytes  1.88 Gbits/sec    0             sender\n\
         [  5]   0.00-2.00   sec   448 MBytes  1.88 Gbits/sec                  receiver\n\
         [  5]   0.00-1.00   sec   336 MBytes  2.82 Gbits/sec    0   1.00 MBytes\n",
        &[
            "tcp x1 forward sent 940 Mbit/s retransmits 3 lost 0",
            "tcp x1 forward sent 1.88 Gbit/s received 1.88 Gbit/s retransmits 0 lost 0",
            "tcp x1 forward sent 2.82 Gbit/s retransmits 0 lost 0",
        ],
        &["no summary", "no summary", "received bytes are unknown", "940 Mbit/s and 2.82 Gbit/s"],
    ),
    // The server had received few datagrams when the client requested its results.
    (
        "$ iperf3 -c 192.0.2.1 -u\n\
         [ ID] Interval           Transfer     Bandwidth       Total Datagrams\n\
         [  4]   0.00-1.00   sec   128 KBytes  1.05 Mbits/sec  16\n\
         - - - - - - - - - - - - - - - - - - - - - - - - -\n\
         [ ID] Interval           Transfer     Bandwidth       Jitter    Lost/Total Datagrams\n\
         [  4]   0.00-1.00   sec   128 KBytes  1.05 Mbits/sec  0.010 ms  0/3 (0%)\n\
         [  4] Sent 3 datagrams\n",
        &["udp x1 forward sent 1.05 Mbit/s retransmits 0 lost 0"],
        &["does not match the number sent", "received bytes are unknown, so the rate"],
    ),
    // More lost datagrams than were sent.
    (
        "$ iperf3 -c 192.0.2.1 -u\n\
         [ ID] Interval           Transfer     Bandwidth       Jitter    Lost/Total Datagrams\n\
         [  4]   0.00-10.00  sec  60.0 MBytes  50.3 Mbits/sec  0.060 ms  8000/7360 (1.1e+02%)\n\
         [  4] Sent 7360 datagrams\n",
        &["udp x1 forward sent 50.3 Mbit/s retransmits 0 lost 0"],
        &["does not match the number sent", "received bytes are unknown, so the rate"],
    ),
    // All datagrams were lost.
    (
        "[ ID] Interval           Transfer     Bandwidth       Jitter    Lost/Total Datagrams\n\
         [  4]   0.00-10.00  sec  60.0 MBytes  50.3 Mbits/sec  0.000 ms  7680/7680 (100%)\n\
         [  4] Sent 7680 datagrams\n",
        &["udp x1 forward sent 50.3 Mbit/s received 0 bit/s retransmits 0 lost 7680"],
        &[],
    ),
    // A counter that overflowed.
    (
        "Accepted connection from 192.0.2.2, port 40000\n\
         [ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams\n\
         [  5]   0.00-10.00  sec  1.16 GBytes  1.00 Gbits/sec  0.006 ms  700/900000 (0.078%)\n\
         ...\n\
         [ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams\n\
         [  5]   0.00-43200.02 sec  4.91 TBytes  1000 Mbits/sec  0.007 ms  0/2147483647 (0%)  receiver\n",
        &["udp x1 forward received 1.00 Gbit/s retransmits 0 lost 700"],
        &["counter overflowed", "so the summary is used"],
    ),
    // A receiver's rows, without a direction.
    (
        "[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams\n\
         [  5]   0.00-10.00  sec  1.10 GBytes   945 Mbits/sec  0.009 ms  5/810000 (0.00062%)\n\
         [  5]  10.00-20.00  sec  1.10 GBytes   945 Mbits/sec  0.009 ms  6/810000 (0.00074%)\n",
        &["udp x1 received 945 Mbit/s retransmits 0 lost 11"],
        &["no summary"],
    ),
    // An interrupted client of a reverse test.
    (
        "$ ./iperf3-darwin -c a -R -t 0\n\
         - - - - - - - - - - - - - - - - - - - - - - - - -\n\
         [ ID] Interval           Transfer     Bitrate\n\
         [  7]   0.00-100.00 sec  0.00 Bytes  0.00 bits/sec                  sender\n\
         [  7]   0.00-100.00 sec  1.10 GBytes  94.5 Mbits/sec                  receiver\n\
         iperf3: interrupt - the client has terminated by signal Interrupt(2)\n",
        &["tcp x1 reverse received 94.5 Mbit/s retransmits 0 lost 0"],
        &[],
    ),
    // More retransmits than segments.
    (
        "[ ID] Interval           Transfer     Bitrate         Retr\n\
         [  5]   0.00-10.00  sec  34.0 GBytes  29.2 Gbits/sec  770000000             sender\n\
         [  5]   0.00-10.00  sec  34.0 GBytes  29.2 Gbits/sec                  receiver\n",
        &["tcp x1 sent 29.2 Gbit/s received 29.2 Gbit/s retransmits 770000000 lost 0"],
        &["retransmits are impossible"],
    ),
    // A sum smaller than the only connection belongs to another test.
    (
        "[  5]   0.00-10.00  sec  31.0 GBytes  26.6 Gbits/sec  1100             sender\n\
         [SUM]   0.00-10.00  sec  24.0 GBytes  20.6 Gbits/sec  1400             sender\n",
        &["tcp x1 sent 26.6 Gbit/s retransmits 1100 lost 0", "tcp sent 20.6 Gbit/s retransmits 1400 lost 0"],
        &["only the sums", "received bytes are unknown", "26.6 Gbit/s and 20.6 Gbit/s"],
    ),
    // Emphasis, inline code and remarks.
    (
        "`[  5]   0.00-10.00  sec  11.0 GBytes  **9.41 Gbits/sec**   12             sender`\n\
         `[  5]   0.00-10.00  sec  11.0 GBytes  *9.40 Gbits/sec*                  receiver`  <-- slow\n",
        &["tcp x1 sent 9.41 Gbit/s received 9.40 Gbit/s retransmits 12 lost 0"],
        &[],
    ),
    // Missing rows in a test without a summary.
    (
        "Connecting to host 192.0.2.1, port 5201\n\
         [  5] local 192.0.2.2 port 1 connected to 192.0.2.1 port 5201\n\
         [ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n\
         [  5]   0.00-1.00   sec   112 MBytes   940 Mbits/sec    0   1.00 MBytes\n\
         [...]\n\
         [  5]   8.00-9.00   sec   112 MBytes   940 Mbits/sec    0   1.00 MBytes\n",
        &["tcp x1 forward sent 940 Mbit/s retransmits 0 lost 0"],
        &["no summary", "rows are missing, 7.00 s in total", "received bytes are unknown"],
    ),
    // A retransmit in a missing row.
    (
        "Connecting to host 192.0.2.1, port 5201\n\
         [ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n\
         [  5]   0.00-1.00   sec   112 MBytes   940 Mbits/sec    2   1.00 MBytes\n\
         [ ID] Interval           Transfer     Bitrate         Retr\n\
         [  5]   0.00-1.00   sec   112 MBytes   940 Mbits/sec    5             sender\n",
        &["tcp x1 forward sent 940 Mbit/s retransmits 5 lost 0"],
        &["received bytes are unknown"],
    ),
    // A datagram sender without headings. The numbers match the datagram size.
    (
        "[  5]   0.00-1.00   sec   129 KBytes  1.05 Mbits/sec  91\n\
         [  5]   1.00-2.00   sec   128 KBytes  1.05 Mbits/sec  90\n",
        &["udp x1 forward sent 1.05 Mbit/s retransmits 0 lost 0"],
        &["no summary", "received bytes are unknown"],
    ),
    // A complete test next to an iperf 2 test.
    (
        "[  3]  0.0-10.0 sec  1.10 GBytes   944 Mbits/sec\n\
         [  5]   0.00-10.00  sec  1.10 GBytes   940 Mbits/sec    0             sender\n\
         [  5]   0.00-10.00  sec  1.09 GBytes   930 Mbits/sec                  receiver\n",
        &["tcp x1 sent 940 Mbit/s received 930 Mbit/s retransmits 0 lost 0"],
        &["line 1: skipped output of iperf 2"],
    ),
    // An SCTP client that can be recognized only by its command.
    (
        "$ iperf3 -c 192.0.2.1 --sctp\n\
         [  5]   0.00-10.00  sec  1.10 GBytes   940 Mbits/sec                  sender\n\
         [  5]   0.00-10.00  sec  1.09 GBytes   930 Mbits/sec                  receiver\n",
        &["- x1 forward sent 940 Mbit/s received 930 Mbit/s retransmits 0 lost 0"],
        &["uses SCTP"],
    ),
    // Output of another tool.
    (
        "[  5]   0.00-10.00  sec  1.10 GBytes   940 Mbits/sec    0             sender\n\
         5 packets transmitted, 5 received, 0% packet loss, time 4005ms\n\
         rtt min/avg/max/mdev = 0.026/0.036/0.045/0.006 ms\n",
        &["tcp x1 sent 940 Mbit/s retransmits 0 lost 0"],
        &["lines 2 and 3: skipped output of ping, which is not supported", "received bytes are unknown"],
    ),
];

#[test]
fn imports_similar_partial_texts() {
    for (text, tests, notes) in TEXTS {
        let run =
            import_texts(&[("a.log", text.as_bytes())]).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let mut described = all_described(&run);
        let mut expected: Vec<String> = tests.iter().map(|test| (*test).to_owned()).collect();
        described.sort();
        expected.sort();
        assert_eq!(described, expected, "{text}{:?}", run.notes());
        assert_eq!(run.notes().len(), notes.len(), "{text}{:?}", run.notes());
        for words in *notes {
            assert!(run.notes().iter().any(|note| note.contains(words)), "{words}: {:?}", run.notes());
        }
    }
}

#[test]
fn rejects_unsupported_logs_by_name() {
    let file = |name: &str| std::fs::read_to_string(format!("tests/data/partial/{name}")).expect("a log");
    for (text, words) in [
        (file("iperf2-rows.txt"), "lines 1, 2, 3 and 2 more: skipped output of iperf 2, which is not supported"),
        (file("iperf2-sums.md"), "lines 4, 5 and 6: skipped output of iperf 2"),
        ("[  1] 0.0000-10.0130 sec  1.10 GBytes   944 Mbits/sec\n".to_owned(), "line 1: skipped output of iperf 2"),
        (
            "[ ID] Interval            Transfer    Bandwidth       Write/Err  Rtry     Cwnd/RTT(var)        NetPwr\n\
             [  1] 0.00-1.00 sec  1.10 GBytes  9.44 Gbits/sec  9000/0          0       1024K/100(10) us  11800\n"
                .to_owned(),
            "lines 1 and 2: skipped output of iperf 2",
        ),
        (
            "20250402013050,10.0.0.1,5001,10.0.0.2,40000,3,0.0-10.0,1180000,944000\n".to_owned(),
            "line 1: skipped output of iperf 2",
        ),
        (
            "{\"streams\": [{\"bits_per_second\": 1}]}\n".to_owned(),
            "line 1: skipped: this JSON document looks like a log",
        ),
        ("{\"start\": {}, \"intervals\": [1,],\n \"end\": {}}\n".to_owned(), "lines 1 to 2: skipped: invalid JSON"),
        ("5 packets transmitted, 5 received, 0% packet loss, time 4005ms\n".to_owned(), "of ping"),
    ] {
        let error = import_texts(&[("a.log", text.as_bytes())]).expect_err("nothing to import");
        assert!(error.starts_with("nothing to import in a.log: ") && error.contains(words), "{error}");
    }
}

#[test]
fn parses_documents_between_any_separators() {
    let read = |name: &str| std::fs::read_to_string(format!("tests/data/iperf3/{name}")).expect("a capture");
    let (one, other) = (read("tcp.client.json"), read("udp.client.json"));
    let of = |text: &str| {
        let run = import_texts(&[("a.json", text.as_bytes())]).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(run.notes(), &[] as &[String]);
        all_described(&run)
    };
    let expected = of(&format!("{one}\n{other}\n"));
    assert_eq!(expected.len(), 2);
    let (a, b) = (one.trim_end(), other.trim_end());
    let flat = |text: &str| text.lines().map(str::trim).collect::<Vec<_>>().join("");
    let indented = |text: &str| text.lines().map(|line| format!("  {line}\n")).collect::<String>();
    let unindented = |text: &str| text.lines().map(|line| format!("{}\n", line.trim())).collect::<String>();
    let nan = b.replacen("\"lost_percent\":\t0", "\"lost_percent\":\t-nan", 1);
    assert_ne!(nan, b);
    for text in [
        format!("{a}{b}"),
        format!("[{a},{b}]"),
        format!("[\n{},\n{}]\n", indented(a).trim_end(), indented(b).trim_end()),
        format!("[{},{}]", flat(a), flat(b)),
        format!("{}{}", flat(a), flat(b)),
        format!("{}\n{}\n", unindented(a), unindented(b)),
        format!("{{\"runs\": [{a}, {{\"result\": {b}}}]}}"),
        format!("{{\"first\": {a}, \"second\": {b}}}"),
        format!("{a}\n{nan}\n"),
        format!("{a}\n{}", nan.replace("-nan", "NaN")),
        format!("[{a},{}]", nan.replace("-nan", "-inf")),
        format!("{a}\r\n{}", b.replace('\n', "\r\n")),
    ] {
        assert_eq!(of(&text), expected, "{}", &text[..60]);
    }
}

#[test]
fn line_prefixes_change_nothing() {
    let logs = [
        "iperf3/tcp.client.txt",
        "iperf3/udp-lossy.client.txt",
        "iperf3/bidir-parallel.client.txt",
        "iperf3/verbose.client.txt",
        "iperf3/tcp.client.json",
        "partial/reverse-rows-left-out.txt",
        "partial/sctp.client.txt",
        "partial/sockperf-3.10.txt",
        "partial/perf-trace-without-title.txt",
        "sockperf-ping-pong.txt",
        "netperf-classic.txt",
        "netperf-keyed.txt",
        "strace-summary.txt",
        "perf-trace-summary.txt",
    ];
    for name in logs {
        let text = std::fs::read_to_string(format!("tests/data/{name}")).expect("a log");
        let plain = import_texts(&[("a.log", text.as_bytes())]).expect("a log");
        for before in [
            "> ",
            "> > ",
            "[OUTPUT] ",
            "2025-04-02 01:30:50 ",
            "2025-04-02T01:30:50.123456Z ",
            "[2025-04-02 01:30:50] ",
            "client-1  | ",
            "Nov 21 18:00:15 host runner[4711]: ",
        ] {
            for end in ["\n", "\r\n"] {
                let lines: String = text.lines().map(|line| format!("{before}{line}{end}")).collect();
                let run = import_texts(&[("a.log", lines.as_bytes())])
                    .unwrap_or_else(|error| panic!("{name} behind {before}: {error}"));
                assert_eq!(
                    all_described(&run),
                    all_described(&plain),
                    "{name} behind {before:?}: {:?}",
                    run.notes()
                );
                assert_eq!(run.notes(), plain.notes(), "{name} behind {before:?}");
            }
        }
    }
}

#[test]
fn balloon_changes_are_nanoseconds_despite_table() {
    let text = "### Current balloon speed\n\n```bash\n\
                [   19.069262] balloon: hetero size change has taken 10818601803\n\
                [   21.589000] balloon: size change has taken 13338485865\n```\n\n\
                | Inflate | Time                             | Speed   |\n\
                | ------- | -------------------------------- | ------- |\n\
                | 4G      | 10818601803/2.4GHz=4.5077507512s | 1.59G/s |\n\
                | 6G      | 13338485865/2.4GHz=5.5577024438s | 1.08G/s |\n";
    let run = import_texts(&[("dmesg.md", text.as_bytes())]).expect("a log");
    assert_eq!(
        all_described(&run),
        [
            "- size change 10818601803 size 4294967296 speed 396998371",
            "- size change 13338485865 size 6442450944 speed 482997171"
        ]
    );
    for words in [
        "rate for 4 GiB is 0.37 GiB/s, not 1.59G/s",
        "rate for 6 GiB is 0.45 GiB/s, not 1.08G/s",
        "both start at 8.2506 s",
    ] {
        assert!(run.notes().iter().any(|note| note.contains(words)), "{words}: {:?}", run.notes());
    }
}
