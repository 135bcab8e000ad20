//! Imports logs of real tools in the form of forum posts, after loops, prompts and selectors.

use crate::imported::{all_described, import, import_texts};

struct Post {
    file: &'static str,
    trials: &'static [&'static str],
    results: usize,
}

const POSTS: &[Post] = &[
    Post {
        file: "loop-of-summaries.txt",
        trials: &[
            "tcp x1 reverse sent 7.92 Gbit/s received 7.90 Gbit/s retransmits 9 lost 0",
            "tcp x1 reverse sent 2.78 Gbit/s received 2.76 Gbit/s retransmits 240 lost 0",
            "tcp x1 reverse sent 3.78 Gbit/s received 3.78 Gbit/s retransmits 180 lost 0",
        ],
        results: 1,
    },
    Post {
        file: "loop-traced.txt",
        trials: &[
            "tcp x1 reverse sent 4.88 Gbit/s received 4.88 Gbit/s retransmits 0 lost 0",
            "tcp x1 reverse sent 5.78 Gbit/s received 5.78 Gbit/s retransmits 0 lost 0",
            "tcp x1 reverse sent 6.29 Gbit/s received 6.29 Gbit/s retransmits 0 lost 0",
        ],
        results: 1,
    },
    Post {
        file: "loop-in-powershell.txt",
        trials: &[
            "tcp x1 reverse sent 3.14 Gbit/s received 2.96 Gbit/s retransmits 0 lost 0",
            "tcp x1 reverse sent 7.11 Gbit/s received 7.11 Gbit/s retransmits 0 lost 0",
        ],
        results: 1,
    },
    Post { file: "netperf-rr-in-bits.md", trials: &["tcp throughput 280000"], results: 1 },
    Post { file: "netperf-omni-rr.txt", trials: &["- transactions 67800 p50 14000 p99 29000"], results: 1 },
    Post {
        file: "netperf-bits-per-selector.txt",
        trials: &["udp throughput 590000 mean 27140", "tcp throughput 150000"],
        results: 2,
    },
    Post { file: "heading-is-a-unit.csv", trials: &["- Gbps 6990000000"], results: 1 },
];

#[test]
fn imports_posts_as_written_by_their_authors() {
    for Post { file, trials, results } in POSTS {
        let run = import(&[&format!("posts/{file}")]);
        assert_eq!(all_described(&run), *trials, "{file}");
        assert_eq!((run.header.results.len(), run.notes().len()), (*results, 0), "{file}: {:?}", run.notes());
    }
}

#[test]
fn rejects_interleaved_rows_of_clients_that_ran_at_the_same_time() {
    let text = std::fs::read("tests/data/posts/interleaved-clients.txt").expect("a post");
    let error = import_texts(&[("a.log", &text)]).expect_err("nothing to import");
    for words in ["lines 2 to 18: skipped interleaved rows", "lines 19 to 25: skipped interleaved rows"] {
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn keeps_only_a_limited_number_of_abandoned_clients() {
    let client =
        "Connecting to host 198.18.0.2, port 5201\n[  5]   0.00-1.00   sec   858 MBytes  7.16 Gbits/sec\n";
    let error = import_texts(&[("a.log", client.repeat(300).as_bytes())]).expect_err("nothing to import");
    assert!(error.contains("lines 1 to 514: skipped interleaved rows"), "{error}");
    assert!(error.contains("lines 515 to 600: skipped interleaved rows"), "{error}");
}
