//! What flows, either way: both ends count the same.

use super::*;

#[test]
fn tcp_goes_either_way_and_both_ways_at_once_over_one_stream_and_three() {
    for direction in [Direction::Forward, Direction::Reverse, Direction::Both] {
        for streams in [1, 3] {
            check(&StreamSettings { direction, streams, ..tcp() }, Options::default());
        }
    }
}

#[test]
fn udp_goes_either_way_and_both_ways_at_once_with_counters_of_either_width() {
    for direction in [Direction::Forward, Direction::Reverse, Direction::Both] {
        for (streams, counters_64bit) in [(1, false), (2, true)] {
            let options = Options { counters_64bit, ..Options::default() };
            check(&StreamSettings { direction, streams, ..udp() }, options);
        }
    }
}

#[test]
fn an_amount_is_sent_to_the_byte_and_all_of_it_arrives() {
    let until = Until::Sent(Bytes(10_000_001));
    for (streams, blocks) in [(1, None), (3, None), (1, Some(77))] {
        let options = Options { blocks, ..Options::default() };
        let spec = ClientSpec { options, ..spec(StreamSettings { until, streams, ..tcp() }) };
        // A stock server that has to wait for its turn throws away what it has not read when it hears of the end.
        in_one_of_five(|| {
            let Some((report, server)) = run(&spec, &[]) else { return };
            let (sent, received, printed) = seen(&report, &server, Direction::Forward);
            assert_eq!((sent, received, printed), (10_000_001, 10_000_001, 10_000_001));
            let start = server.start.test_start.unwrap();
            assert_eq!(start.blocks, blocks.unwrap_or(0).cast_signed());
        });
    }
}

#[test]
fn an_amount_is_received_and_the_test_ended() {
    for (load, least) in [(tcp(), 10_000_000), (udp(), 500_000)] {
        let load = StreamSettings { until: Until::Sent(Bytes(least)), direction: Direction::Reverse, ..load };
        let Some((report, _)) = run(&spec(load), &[]) else { return };
        assert!(bytes(&report.here, Direction::Reverse) >= least);
    }
}

#[test]
fn what_is_left_out_at_the_start_counts_at_neither_end() {
    in_one_of_five(the_start_is_left_out);
}

fn the_start_is_left_out() {
    for (load, direction) in
        [(tcp(), Direction::Forward), (udp(), Direction::Forward), (udp(), Direction::Reverse)]
    {
        let load = StreamSettings { warmup: SECOND, rate: Some(BitRate(8e6)), direction, ..load };
        let spec = spec(load);
        let Some((report, server)) = run(&spec, &[]) else { return };
        let (sent, received, printed) = seen(&report, &server, direction);
        let document = document(&spec, &report, SECOND);
        let packets = document.end.sum.map(|sum| sum.packets.unwrap());
        assert!(packets.is_none_or(|packets| (800..1500).contains(&packets)), "{packets:?}");
        assert_eq!(document.intervals[0].sum.unwrap().omitted, Some(true));
        for seen in [sent, received, printed] {
            assert!((800_000..1_500_000).contains(&seen), "{sent} {received} {printed}");
        }
        let test = server.start.test_start.unwrap();
        assert_eq!((test.omit, test.duration), (1, 1));
    }
}
