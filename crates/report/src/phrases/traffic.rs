//! Phrases for statistics of TCP, datagrams and round trips.

use findings::{DatagramSummary, Distribution, LatencySummary, TcpSummary};
use units::{Bytes, Share};

use super::{count, grouped};
use crate::text::glued;

pub(crate) fn window(range: (Bytes, Bytes)) -> String {
    format!("{} to {}", range.0, range.1)
}

pub(crate) fn retransmits(tcp: &TcpSummary) -> String {
    let some = |count: Option<u64>| count.filter(|count| *count > 0);
    let reordered =
        some(tcp.reorderings).map(|times| format!("reordering detected {}", count(times, "time")));
    let out_of_order = some(tcp.out_of_order).map(|late| format!("{} out of order", count(late, "segment")));
    let details: Vec<String> = reordered.into_iter().chain(out_of_order).collect();
    let retransmits = grouped(tcp.retransmits);
    if details.is_empty() { retransmits } else { format!("{retransmits} ({})", details.join(", ")) }
}

pub(crate) fn lost(datagrams: &DatagramSummary) -> String {
    match datagrams.lost {
        0 => "0".to_owned(),
        lost => format!("{} ({})", grouped(lost), glued(&Share(datagrams.loss).to_string())),
    }
}

pub(crate) fn lost_messages(latency: &LatencySummary) -> String {
    match latency.lost {
        None => "unknown".to_owned(),
        Some(0) => "0".to_owned(),
        Some(lost) => {
            let sent = lost.saturating_add(latency.round_trips.count);
            format!("{} ({})", grouped(lost), glued(&Share(lost as f64 / sent as f64).to_string()))
        }
    }
}

pub(crate) fn middle_and_tail(times: &Distribution) -> String {
    let at =
        |share: f64| times.at(share).map_or_else(|| "unknown".to_owned(), |time| glued(&time.to_string()));
    format!("median {}, p99 {}", at(0.5), at(0.99))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_congestion_windows() {
        assert_eq!(window((Bytes(321 * 1024), Bytes(388 * 1024))), "321 KiB to 388 KiB");
        assert_eq!(window((Bytes(1448), Bytes(20 << 20))), "1.41 KiB to 20.0 MiB");
    }
}
