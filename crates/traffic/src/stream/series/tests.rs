//! Tests which intervals result from given clock readings.

use super::*;

const MS: u64 = 1_000_000;

fn settings(warmup: u64, interval: u64) -> StreamSettings {
    StreamSettings {
        warmup: Nanos::from_millis(warmup),
        interval: Nanos::from_millis(interval),
        ..StreamSettings::new(Until::Elapsed(Nanos::from_secs(1)))
    }
}

fn series(warmup: u64, interval: u64, times: &[u64]) -> Vec<Interval> {
    let origin = 77 * MS;
    let mut series = Series::new(&settings(warmup, interval));
    series.begin(origin);
    let (mut last, mut lost) = (origin, 0);
    let reading = |lost: &mut u32| {
        let tcp = TcpSample { retransmits: std::mem::take(lost), ..TcpSample::default() };
        let datagrams = DatagramSample { count: u64::from(tcp.retransmits), ..DatagramSample::default() };
        Reading { tcp: Some(tcp), datagrams: Some(datagrams) }
    };
    for time in times {
        last = origin + time * MS;
        series.add(1);
        lost += 1;
        if last >= series.boundary() {
            series.cut(last, reading(&mut lost));
        }
    }
    series.finish(last, reading(&mut lost))
}

fn check(warmup: u64, interval: u64, times: &[u64], expected: &[(u64, u64, u64, bool)]) {
    let intervals = series(warmup, interval, times);
    let found: Vec<_> =
        intervals.iter().map(|i| (i.start.0 / MS, i.end.0 / MS, i.bytes.0, i.warmup)).collect();
    assert_eq!(found, expected, "{times:?}");
    for interval in intervals {
        assert_eq!(interval.tcp.map(|tcp| u64::from(tcp.retransmits)), Some(interval.bytes.0));
        assert_eq!(interval.datagrams.map(|datagrams| datagrams.count), Some(interval.bytes.0));
    }
}

#[test]
fn interval_ends_at_first_reading_after_its_boundary() {
    check(0, 100, &[50, 103, 199, 204], &[(0, 103, 2, false), (103, 204, 2, false)]);
}

#[test]
fn grid_restarts_at_the_end_of_warmup() {
    check(
        250,
        100,
        &[100, 200, 251, 350, 450],
        &[
            (0, 100, 1, true),
            (100, 200, 1, true),
            (200, 251, 1, true),
            (251, 350, 1, false),
            (350, 450, 1, false),
        ],
    );
}

#[test]
fn stall_without_readings_is_one_longer_interval() {
    check(0, 100, &[100, 730, 800], &[(0, 100, 1, false), (100, 730, 1, false), (730, 800, 1, false)]);
}

#[test]
fn merges_short_remainder_into_previous_interval() {
    check(0, 100, &[100, 200, 249], &[(0, 100, 1, false), (100, 249, 2, false)]);
    check(0, 100, &[100, 200, 250], &[(0, 100, 1, false), (100, 200, 1, false), (200, 250, 1, false)]);
    check(100, 100, &[100, 110], &[(0, 100, 1, true), (100, 110, 1, false)]);
}

fn check_end(end: u64, expected: &[(u64, u64, u64)]) {
    let mut series = Series::new(&settings(0, 100));
    series.begin(77 * MS);
    for time in 1..=5 {
        series.add(u64::from(time <= 2));
        series.cut((77 + time * 100) * MS, Reading::default());
    }
    let intervals = series.finish((77 + end) * MS, Reading::default());
    let found: Vec<_> = intervals.iter().map(|i| (i.start.0 / MS, i.end.0 / MS, i.bytes.0)).collect();
    assert_eq!(found, expected, "{end}");
}

#[test]
fn late_detected_end_removes_empty_intervals_after_it() {
    check_end(180, &[(0, 100, 1), (100, 180, 1)]);
    check_end(140, &[(0, 140, 2)]);
    check_end(200, &[(0, 100, 1), (100, 200, 1)]);
    check_end(360, &[(0, 100, 1), (100, 200, 1), (200, 300, 0), (300, 360, 0)]);
    check_end(570, &[(0, 100, 1), (100, 200, 1), (200, 300, 0), (300, 400, 0), (400, 500, 0), (500, 570, 0)]);
}

#[test]
fn caches_start_of_measurement() {
    let mut series = Series::new(&settings(250, 100));
    series.begin(77 * MS);
    for (time, measured) in [(100, None), (200, None), (251, Some(328 * MS)), (350, Some(328 * MS))] {
        series.cut((77 + time) * MS, Reading::default());
        series.intervals.clear();
        assert_eq!(series.measured_from(), measured, "{time}");
    }
    let mut series = Series::new(&settings(0, 100));
    series.begin(77 * MS);
    assert_eq!(series.measured_from(), Some(77 * MS));
}

#[test]
fn stream_of_known_length_does_not_reallocate() {
    let times: Vec<u64> = (1..=1250).collect();
    let mut series = Series::new(&settings(250, 10));
    let room = series.intervals.capacity();
    for time in times {
        if time * MS >= series.boundary() {
            series.cut(time * MS, Reading::default());
        }
    }
    assert_eq!(series.intervals.capacity(), room);
}
