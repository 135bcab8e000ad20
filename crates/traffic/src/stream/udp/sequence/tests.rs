//! Orders of arrival, and what is counted of them.

use proptest::prelude::*;

use super::*;
use crate::stream::udp::format::{DatagramFormat, Head};

fn totals(arrivals: &mut Arrivals) -> DatagramSample {
    arrivals.sample().datagrams.expect("always")
}

fn after(numbers: &[u64]) -> DatagramSample {
    let mut arrivals = Arrivals::new();
    numbers.iter().for_each(|&number| {
        arrivals.note(number, 0, 0);
    });
    totals(&mut arrivals)
}

fn check(numbers: &[u64], (count, lost, reordered, duplicates): (u64, i64, u64, u64)) {
    let expected = DatagramSample { count, lost, reordered, duplicates, jitter: Nanos(0) };
    assert_eq!(after(numbers), expected, "{numbers:?}");
}

#[test]
fn every_kind_of_mishap_is_counted_as_itself() {
    check(&[1, 2, 3], (3, 0, 0, 0));
    check(&[1, 3], (2, 1, 0, 0));
    check(&[2], (1, 1, 0, 0));
    check(&[1, 3, 2], (3, 0, 1, 0));
    check(&[1, 2, 2, 3], (3, 0, 0, 1));
    check(&[3, 2, 1, 1, 3], (3, 0, 2, 2));
    check(&[1, WINDOW + 1, 2, 1], (4, WINDOW.cast_signed() - 3, 2, 0));
    check(&[1, 2 * WINDOW, WINDOW + 1, WINDOW + 1], (3, 2 * WINDOW.cast_signed() - 3, 1, 1));
    check(&[WINDOW, 2 * WINDOW, WINDOW + 7], (3, 2 * WINDOW.cast_signed() - 3, 1, 0));
}

#[test]
fn a_late_one_makes_good_what_was_counted_as_lost_before() {
    let mut arrivals = Arrivals::new();
    for number in [1, 4, 5] {
        arrivals.note(number, 0, 0);
    }
    assert_eq!(totals(&mut arrivals).lost, 2);
    arrivals.note(3, 0, 0);
    assert_eq!(totals(&mut arrivals).lost, -1);
    arrivals.announce(9);
    assert_eq!(totals(&mut arrivals).lost, 4);
}

#[test]
fn jitter_is_that_of_rfc_3550() {
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
fn a_constant_delay_is_no_jitter_whatever_the_clocks_show() {
    let mut jitter = Jitter::default();
    for number in 0..100_u64 {
        jitter.note(u64::MAX / 2 + number * 1000, number * 1000 + 5);
    }
    assert_eq!(jitter.value(), Nanos(0));
}

/// What happens to each of a few hundred datagrams: dropped, or sent so many times, each late by so much.
fn fates() -> impl Strategy<Value = Vec<Vec<u64>>> {
    let late = prop_oneof![4 => Just(0_u64), 1 => 0..300_u64, 1 => 0..WINDOW / 400];
    prop::collection::vec(prop::collection::vec(late, 0..3), 1..400)
}

#[test]
fn a_clock_that_jumps_by_all_its_range_is_only_much_jitter() {
    let mut arrivals = Arrivals::new();
    for number in 1..=1000 {
        arrivals.note(number, if number % 2 == 0 { 0 } else { u64::from(u32::MAX) * 1_000_000_000 }, number);
    }
    let sample = totals(&mut arrivals);
    assert_eq!((sample.count, sample.lost), (1000, 0));
    assert!(sample.jitter > Nanos(WILDEST / 2) && sample.jitter <= Nanos(WILDEST), "{}", sample.jitter);
}

#[test]
fn a_number_out_of_all_reason_is_a_great_loss_and_no_more() {
    let mut arrivals = Arrivals::new();
    // More came than the highest number says: the same ones, too old to be known.
    for number in [WINDOW + 1, 1, 1, 1] {
        arrivals.note(number, 0, 0);
    }
    totals(&mut arrivals);
    arrivals.announce(u64::MAX >> 1);
    assert!(totals(&mut arrivals).lost > i64::MAX / 2);
}

/// A head of any bytes: numbers near each other, near the ends of the range, or anywhere.
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
    fn no_head_is_too_wild_to_be_counted(
        heads in prop::collection::vec((head(), any::<u64>(), any::<bool>()), 1..100),
    ) {
        let mut arrivals = Arrivals::new();
        let mut sum = DatagramSample::default();
        for ((is_long, head), now, is_cut) in heads {
            let format = if is_long { DatagramFormat::Counter64 } else { DatagramFormat::Counter32 };
            match format.read(&head) {
                Some(Head::Data { number, sent }) => {
                    let whole = format.whole(number, arrivals.highest());
                    if whole > 0 {
                        arrivals.note(whole, sent, now);
                    }
                }
                Some(Head::Closing { sent }) => arrivals.announce(sent),
                None => {}
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
    fn any_drops_swaps_and_duplicates_are_counted_exactly(fates in fates(), spread in 1..600_u64) {
        // Numbers lie apart, as if those between had been lost.
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
            arrivals.note(number, 0, 0);
        }
        arrivals.announce(sent);
        let expected = DatagramSample {
            count: came.len() as u64,
            lost: sent.cast_signed() - came.len() as i64,
            reordered,
            duplicates,
            jitter: Nanos(0),
        };
        prop_assert_eq!(totals(&mut arrivals), expected);
    }
}
