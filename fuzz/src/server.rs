//! Feeds arbitrary bytes to all parsers of untrusted input and checks invariants.

use codecs::iperf3::{PlannedStream, Unread};
use traffic::handshake;
use workload::{Direction, EndSeries};

use crate::{
    iperf3::extension,
    opening::{self, Datagram, LONGEST, Opening},
};

pub fn first_bytes(bytes: &[u8]) {
    let known = (0..=bytes.len()).find_map(|length| match opening::of_stream(&bytes[..length]) {
        Opening::More(upto) => {
            assert!((length + 1..=LONGEST).contains(&upto), "{upto} after {length}");
            None
        }
        opening => Some((length, opening)),
    });
    match known {
        Some((length, Opening::Native(handshake))) => {
            assert_eq!((length, &handshake.encode()[..]), (handshake::LENGTH, &bytes[..length]));
        }
        Some((length, Opening::Iperf3(cookie))) => assert_eq!(cookie.as_bytes()[..], bytes[..length]),
        Some((length, _)) => assert!(length <= LONGEST),
        None => assert!(bytes.len() < LONGEST),
    }
    if let Datagram::Native(greeting) = opening::of_datagram(bytes) {
        assert_eq!(greeting.encode()[..], *bytes);
    }
}

pub fn record(bytes: &[u8]) {
    let plan = [Direction::Forward, Direction::Reverse].map(|direction| PlannedStream { id: 1, direction });
    let Some(record_json) = std::str::from_utf8(bytes).ok().and_then(|text| Unread::new(text.to_owned()))
    else {
        return;
    };
    let Some(outcome) = extension::decode(&record_json, &plan) else { return };
    // Accepted records have sums and can be encoded again.
    let series = || outcome.measured.flows.iter().map(|flow| &flow.series);
    assert!(EndSeries::rate_together(series()).0 >= 0.0);
    for end in series() {
        let _ = (end.rate(), end.retransmits(), end.datagrams());
    }
    let again = extension::encode(&outcome, usize::MAX).expect("no limit");
    assert!(extension::decode(&again, &plan).is_some(), "re-encoded record is rejected: {}", again.text());
}

#[cfg(test)]
mod tests {
    use plumb_tests::vary;

    use super::*;

    #[test]
    fn classifies_arbitrary_first_bytes() {
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
    fn accepts_or_rejects_arbitrary_records() {
        let sample = include_bytes!("../corpus/extension/reverse");
        let record_json = Unread::new(String::from_utf8_lossy(sample).into_owned()).expect("JSON");
        let plan = [PlannedStream { id: 1, direction: Direction::Reverse }];
        assert!(extension::decode(&record_json, &plan).is_some(), "the unmodified sample is valid");
        vary(sample, record);
    }
}
