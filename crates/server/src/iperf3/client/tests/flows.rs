//! Tests that both ends' byte counts agree in all directions.

use super::*;

#[test]
fn tcp_counts_agree_in_all_directions() {
    for direction in [Direction::Forward, Direction::Reverse, Direction::Both] {
        for streams in [1, 3] {
            check(&StreamSettings { direction, streams, ..tcp() }, Options::default());
        }
    }
}

#[test]
fn udp_counts_agree_in_all_directions_and_counter_widths() {
    for direction in [Direction::Forward, Direction::Reverse, Direction::Both] {
        for (streams, counters_64bit) in [(1, false), (2, true)] {
            let options = Options { counters_64bit, ..Options::default() };
            check(&StreamSettings { direction, streams, ..udp() }, options);
        }
    }
}

#[test]
fn sends_exact_amount_and_all_of_it_arrives() {
    let until = Until::Sent(Bytes(10_000_001));
    for (streams, blocks) in [(1, None), (3, None), (1, Some(77))] {
        let options = Options { blocks, ..Options::default() };
        let spec = ClientSpec { options, ..spec(StreamSettings { until, streams, ..tcp() }) };
        in_one_of_five(|| {
            let Some((report, server)) = run(&spec, &[]) else { return };
            let (sent, received, printed) = byte_counts(&report, &server, Direction::Forward);
            assert_eq!((sent, received, printed), (10_000_001, 10_000_001, 10_000_001));
            let start = server.start.test_start.unwrap();
            assert_eq!(start.blocks, blocks.unwrap_or(0).cast_signed());
        });
    }
}

#[test]
fn ends_test_after_receiving_the_amount() {
    for (load, least) in [(tcp(), 10_000_000), (udp(), 500_000)] {
        let load = StreamSettings { until: Until::Sent(Bytes(least)), direction: Direction::Reverse, ..load };
        let Some((report, _)) = run(&spec(load), &[]) else { return };
        assert!(bytes(&report.here, Direction::Reverse) >= least);
    }
}

#[test]
fn omits_warm_up_at_both_ends() {
    in_one_of_five(omits_warm_up);
}

fn omits_warm_up() {
    for (load, direction) in
        [(tcp(), Direction::Forward), (udp(), Direction::Forward), (udp(), Direction::Reverse)]
    {
        let load = StreamSettings { warmup: SECOND, rate: Some(BitRate(8e6)), direction, ..load };
        let spec = spec(load);
        let Some((report, server)) = run(&spec, &[]) else { return };
        let (sent, received, printed) = byte_counts(&report, &server, direction);
        let document = document(&spec, &report, SECOND);
        let packets = document.end.sum.map(|sum| sum.packets.unwrap());
        assert!(packets.is_none_or(|packets| (800..1500).contains(&packets)), "{packets:?}");
        assert_eq!(document.intervals[0].sum.unwrap().omitted, Some(true));
        for count in [sent, received, printed] {
            assert!((800_000..1_500_000).contains(&count), "{sent} {received} {printed}");
        }
        let test = server.start.test_start.unwrap();
        assert_eq!((test.omit, test.duration), (1, 1));
    }
}
