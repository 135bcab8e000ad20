//! Arbitrary bytes through everything that reads strangers and other plumbs, with what must hold; fuzzers and tests
//! call it. The protocols' own are in `codecs`.

use codecs::iperf3::{PlannedStream, Unread};
use traffic::handshake;
use workload::{Direction, EndSeries};

use crate::{
    iperf3::extension,
    opening::{self, Datagram, LONGEST, Opening},
};

/// The first bytes of a connection, and a datagram.
pub fn first_bytes(bytes: &[u8]) {
    let known = (0..=bytes.len()).find_map(|length| match opening::of_stream(&bytes[..length]) {
        Opening::More(upto) => {
            assert!((length + 1..=LONGEST).contains(&upto), "{upto} after {length}");
            None
        }
        opening => Some((length, opening)),
    });
    match known {
        Some((length, Opening::Native(said))) => {
            assert_eq!((length, &said.encode()[..]), (handshake::LENGTH, &bytes[..length]));
        }
        Some((length, Opening::Iperf3(cookie))) => assert_eq!(cookie.as_bytes()[..], bytes[..length]),
        Some((length, _)) => assert!(length <= LONGEST),
        None => assert!(bytes.len() < LONGEST),
    }
    if let Datagram::Native(said) = opening::of_datagram(bytes) {
        assert_eq!(said.encode()[..], *bytes);
    }
}

/// What another plumb tells of a test of one connection each way.
pub fn record(bytes: &[u8]) {
    let plan = [Direction::Forward, Direction::Reverse].map(|direction| PlannedStream { id: 1, direction });
    let Some(told) = std::str::from_utf8(bytes).ok().and_then(|text| Unread::new(text.to_owned())) else {
        return;
    };
    let Some(outcome) = extension::decode(&told, &plan) else { return };
    // Whatever is believed has sums, and can be told again.
    let series = || outcome.measured.flows.iter().map(|flow| &flow.series);
    assert!(EndSeries::rate_together(series()).0 >= 0.0);
    for end in series() {
        let _ = (end.rate(), end.retransmits(), end.datagrams());
    }
    let again = extension::encode(&outcome, usize::MAX).expect("no limit");
    assert!(extension::decode(&again, &plan).is_some(), "not read again: {}", again.text());
}

#[cfg(test)]
mod tests {
    use plumb_tests::vary;

    use super::*;

    #[test]
    fn whatever_comes_first_is_known_or_not() {
        for sample in [
            &include_bytes!("../corpus/greeting/asks")[..],
            include_bytes!("../corpus/greeting/handshake"),
            include_bytes!("../corpus/greeting/cookie"),
            include_bytes!("../corpus/greeting/sockperf"),
        ] {
            vary(sample, first_bytes);
        }
    }

    #[test]
    fn whatever_is_told_of_a_test_is_believed_or_not() {
        let sample = include_bytes!("../corpus/extension/reverse");
        let told = Unread::new(String::from_utf8_lossy(sample).into_owned()).expect("JSON");
        let plan = [PlannedStream { id: 1, direction: Direction::Reverse }];
        assert!(extension::decode(&told, &plan).is_some(), "the sample is one");
        vary(sample, record);
    }
}
