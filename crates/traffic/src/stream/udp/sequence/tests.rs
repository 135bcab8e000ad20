//! Tests the counts for given orders of arrival.

use proptest::prelude::*;

use super::*;
use crate::stream::udp::format::{DatagramFormat, Head};

fn totals(arrivals: &mut Arrivals) -> DatagramSample {
    arrivals.sample().datagrams.expect("always")
}

fn datagram(number: u64, sent: u64, now: u64) -> Datagram {
    Datagram { number, sent, now, bytes: 100 }
}

fn after(numbers: &[u64]) -> DatagramSample {
    let mut arrivals = Arrivals::new();
    numbers.iter().for_each(|&number| {
        arrivals.note(datagram(number, 0, 0));
    });
    totals(&mut arrivals)
}

fn check(numbers: &[u64], (count, lost, reordered, duplicates): (u64, i64, u64, u64)) {
    let expected = DatagramSample { count, lost, reordered, duplicates, ..DatagramSample::default() };
    assert_eq!(after(numbers), expected, "{numbers:?}");
}

#[test]
fn counts_each_kind_of_error() {
    check(&[1, 2, 3], (3, 0, 0, 0));
    check(&[1, 3], (2, 1, 0, 0));
    check(&[2], (1, 1, 0, 0));
    check(&[1, 3, 2], (3, 0, 1, 0));
    check(&[1, 2, 2, 3], (3, 0, 0, 1));
    check(&[3, 2, 1, 1, 3], (3, 0, 2, 2));
    check(&[1, WINDOW + 1, 2, 1], (4, WINDOW.cast_signed() - 3, 2, 0));
    check(&[1, 2 * WINDOW, WINDOW + 2, WINDOW + 2], (3, 2 * WINDOW.cast_signed() - 3, 1, 1));
    check(&[WINDOW, 2 * WINDOW, WINDOW + 7], (3, 2 * WINDOW.cast_signed() - 3, 1, 0));
}

#[test]
fn late_datagram_reduces_losses() {
    let mut arrivals = Arrivals::new();
    for number in [1, 4, 5] {
        arrivals.note(datagram(number, 0, 0));
    }
    assert_eq!(totals(&mut arrivals).lost, 2);
    arrivals.note(datagram(3, 0, 0));
    assert_eq!(totals(&mut arrivals).lost, -1);
    arrivals.announce(9);
    assert_eq!(totals(&mut arrivals).lost, 4);
}

#[test]
fn jitter_follows_rfc_3550() {
    let mut jitter = Jitter::default();
    let (mut expected, mut before) = (0.0, None);
    for (number, delay) in (0_u64..).zip([500, 900, 400, 400, 2000, 100, 800].map(|us| us * 1000)) {
        let sent = number * 1_000_000;
        jitter.note(sent, sent + delay + 77_000_000_000);
        let difference = before.map_or(0.0, |before: u64| delay.abs_diff(before) as f64);
        expected += (difference - expected) / 16.0;
        before = Some(delay);
    }
    assert!((jitter.value().0 as f64 - expected).abs() < 10.0, "{} {expected}", jitter.value());
}

#[test]
fn constant_delay_has_no_jitter_with_any_clocks() {
    let mut jitter = Jitter::default();
    for number in 0..100_u64 {
        jitter.note(u64::MAX / 2 + number * 1000, number * 1000 + 5);
    }
    assert_eq!(jitter.value(), Nanos(0));
}

/// Generates a fate for each of a few hundred datagrams: dropped, or arriving once or more with these delays.
fn fates() -> impl Strategy<Value = Vec<Vec<u64>>> {
    let late = prop_oneof![4 => Just(0_u64), 1 => 0..300_u64, 1 => 0..WINDOW / 400];
    prop::collection::vec(prop::collection::vec(late, 0..3), 1..400)
}

#[test]
fn clock_jumps_only_cause_jitter() {
    let mut arrivals = Arrivals::new();
    for number in 1..=1000 {
        let sent = if number % 2 == 0 { 0 } else { u64::from(u32::MAX) * 1_000_000_000 };
        arrivals.note(datagram(number, sent, number));
    }
    let sample = totals(&mut arrivals);
    assert_eq!((sample.count, sample.lost, sample.jitter), (1000, 0, Nanos(0)));
}

#[test]
fn altered_time_affects_jitter_only_briefly() {
    for bit in 0..64 {
        let mut head = [0; 16];
        let mut arrivals = Arrivals::new();
        for number in 1..=1000_u64 {
            DatagramFormat::Counter64.write(&mut head, number, number * 1_000_000);
            if number == 500 {
                head[bit / 8] ^= 0x80 >> (bit % 8);
            }
            let Some(Head::Data { number, sent }) = DatagramFormat::Counter64.read(&head) else {
                panic!("a datagram")
            };
            arrivals.note(datagram(number, sent, number * 1_000_000 + 7));
        }
        let jitter = totals(&mut arrivals).jitter;
        assert!(jitter <= Nanos::from_millis(1), "bit {bit}: {jitter}");
    }
}

#[test]
fn altered_number_is_one_loss_and_one_stray_or_duplicate() {
    for (format, bits) in [(DatagramFormat::Counter32, 32), (DatagramFormat::Counter64, 64)] {
        for (bit, altered) in (0..bits).flat_map(|bit| [(bit, 1), (bit, 500), (bit, 1000)]) {
            let (sample, bytes) = with_bit_altered(format, bit, altered);
            let case = format!("{format:?} {altered} with bit {bit}: {sample:?}");
            let late = (1001..WINDOW).contains(&(altered ^ 1 << bit));
            assert_eq!((sample.count, sample.lost), (if late { 1000 } else { 999 }, 1), "{case}");
            assert_eq!(sample.strays + sample.duplicates, 1, "{case}");
            assert_eq!(bytes, 100 * sample.count as usize, "{case}");
            if bit >= 18 {
                assert_eq!((sample.strays, sample.reordered), (1, 0), "{case}");
            }
        }
    }
}

fn with_bit_altered(format: DatagramFormat, bit: usize, altered: u64) -> (DatagramSample, usize) {
    let (mut arrivals, mut bytes) = (Arrivals::new(), 0);
    for number in 1..=1000 {
        let mut bytes_of = vec![0; 100];
        format.write(&mut bytes_of, number, 0);
        if number == altered {
            bytes_of[format.head() - 1 - bit / 8] ^= 1 << (bit % 8);
        }
        match format.read(&bytes_of) {
            Some(Head::Data { number, sent }) => {
                let number = format.whole(number, arrivals.highest());
                bytes += arrivals.note(datagram(number, sent, 0));
            }
            Some(Head::Closing { .. }) | None => arrivals.stray(),
        }
    }
    bytes += arrivals.announce(1000);
    arrivals.end();
    (totals(&mut arrivals), bytes)
}

#[test]
fn counts_every_datagram_after_an_outage() {
    for gap in [WINDOW, WINDOW + 1, 1 << 30, 1 << 50] {
        let mut arrivals = Arrivals::new();
        let numbers = (1..=10).chain(gap + 10..gap + 20);
        let bytes: usize = numbers.map(|number| arrivals.note(datagram(number, 0, 0))).sum();
        let expected = DatagramSample { count: 20, lost: gap.cast_signed() - 1, ..DatagramSample::default() };
        assert_eq!((totals(&mut arrivals), bytes), (expected, 2000), "{gap}");
    }
    let mut arrivals = Arrivals::new();
    let last = 2 * WINDOW;
    assert_eq!(arrivals.note(datagram(last, 0, 0)) + arrivals.announce(last), 100);
    assert_eq!((totals(&mut arrivals).count, arrivals.strays), (1, 0));
}

#[test]
fn extreme_number_only_counts_as_loss() {
    let mut arrivals = Arrivals::new();
    // More datagrams arrive than the highest number suggests, because some repetitions are too old to detect.
    for number in [WINDOW + 1, 1, 1, 1] {
        arrivals.note(datagram(number, 0, 0));
    }
    totals(&mut arrivals);
    arrivals.announce(u64::MAX >> 1);
    assert!(totals(&mut arrivals).lost > i64::MAX / 2);
}

fn head() -> impl Strategy<Value = (bool, Vec<u8>)> {
    let number = prop_oneof![0..9_u64, (u64::MAX >> 1) - 9..=u64::MAX >> 1, any::<u64>()];
    let seconds = prop_oneof![Just(0_u32), Just(u32::MAX), any::<u32>()];
    (any::<bool>(), seconds, any::<u32>(), number).prop_map(|(is_long, seconds, micros, number)| {
        let number =
            if is_long { number.to_be_bytes().to_vec() } else { (number as u32).to_be_bytes().into() };
        (is_long, [&seconds.to_be_bytes()[..], &micros.to_be_bytes(), &number].concat())
    })
}

proptest! {
    #[test]
    fn counts_arbitrary_headers_without_overflow(
        heads in prop::collection::vec((head(), any::<u64>(), any::<bool>()), 1..100),
    ) {
        let mut arrivals = Arrivals::new();
        let mut sum = DatagramSample::default();
        for ((is_long, head), now, is_cut) in heads {
            let format = if is_long { DatagramFormat::Counter64 } else { DatagramFormat::Counter32 };
            match format.read(&head) {
                Some(Head::Data { number, sent }) => {
                    arrivals.note(datagram(format.whole(number, arrivals.highest()), sent, now));
                }
                Some(Head::Closing { sent }) => drop(arrivals.announce(sent)),
                None => arrivals.stray(),
            }
            if is_cut {
                sum = sum.and(&totals(&mut arrivals));
            }
        }
        sum = sum.and(&totals(&mut arrivals));
        prop_assert!(sum.jitter <= Nanos(WILDEST), "{}", sum.jitter);
        prop_assert_eq!(sum.count, arrivals.received);
    }

    #[test]
    fn counts_any_drops_swaps_and_duplicates_exactly(fates in fates(), spread in 1..600_u64) {
        let numbered = (1..).map(|number: u64| number * spread).zip(&fates);
        let mut order: Vec<(u64, u64)> = numbered
            .flat_map(|(number, fate)| fate.iter().map(move |late| (number + late * spread, number)))
            .collect();
        order.sort_by_key(|(at, _)| *at);
        let order: Vec<u64> = order.into_iter().map(|(_, number)| number).collect();

        let (mut highest, mut came) = (0, std::collections::BTreeSet::new());
        let (mut reordered, mut duplicates) = (0, 0);
        for &number in &order {
            prop_assume!(highest < number + WINDOW);
            match came.insert(number) {
                false => duplicates += 1,
                true if number < highest => reordered += 1,
                true => {}
            }
            highest = highest.max(number);
        }
        let sent = fates.len() as u64 * spread;
        let mut arrivals = Arrivals::new();
        for number in order {
            arrivals.note(datagram(number, 0, 0));
        }
        arrivals.announce(sent);
        let expected = DatagramSample {
            count: came.len() as u64,
            lost: sent.cast_signed() - came.len() as i64,
            reordered,
            duplicates,
            ..DatagramSample::default()
        };
        prop_assert_eq!(totals(&mut arrivals), expected);
    }
}
