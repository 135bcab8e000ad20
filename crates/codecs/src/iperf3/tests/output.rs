//! Checks that the JSON output of iperf3 3.12 is read and written back without loss, for both roles.

use crate::iperf3::output::Output;

use super::capture::{ALL, Capture, same};

#[test]
fn iperf3_output_round_trips() {
    for capture in ALL {
        for printed in [capture.client, capture.server] {
            let read = Output::parse(printed).unwrap();
            let ours = serde_json::to_value(&read).unwrap();
            let theirs = serde_json::from_str(printed).unwrap();
            assert!(same(&ours, &theirs), "{}:\n{ours}\n{theirs}", capture.name);
            assert_eq!(Output::parse(&ours.to_string()).unwrap(), read, "{}", capture.name);
        }
    }
}

#[test]
fn finds_known_numbers() {
    let tcp = Output::parse(Capture::named("tcp").client).unwrap();
    assert_eq!(tcp.start.test_start.unwrap().protocol, "TCP");
    assert_eq!(tcp.end.sum_sent.unwrap().bytes, 2_914_910_208);
    assert_eq!(tcp.end.sum_received.unwrap().bytes, 2_904_030_490);
    assert_eq!(tcp.intervals.len(), 2);
    let udp = Output::parse(Capture::named("udp-bidir").client).unwrap();
    assert_eq!(udp.end.sum_bidir_reverse.unwrap().packets, Some(39));
    assert_eq!(udp.end.streams.unwrap()[1].udp.unwrap().lost_packets, Some(0));
    let busy = Output::parse(Capture::named("busy").client).unwrap();
    assert_eq!(busy.error.as_deref(), Some("the server is busy running a test. try again later"));
}

#[test]
fn resolves_duplicate_keys_and_second_sums() {
    let json = r#"{"start":{"sock_bufsize":1,"sock_bufsize":2},
        "intervals":[{"streams":[],"sum":{"bytes":3,"sender":true},"sum":{"bytes":4,"sender":false}}],
        "end":{"sum_sent":{"bytes":5},"sum_sent":{"bytes":6}}}"#;
    let output = Output::parse(json).unwrap();
    assert_eq!(output.start.sock_bufsize, Some(1));
    assert_eq!(output.intervals[0].sum.unwrap().bytes, 3);
    assert_eq!(output.intervals[0].sum_bidir_reverse.unwrap().bytes, 4);
    assert_eq!(output.end.sum_sent_bidir_reverse.unwrap().bytes, 6);
}
