//! Computes an interval's duration and bytes from the two most precise of three rounded numbers: time, transfer and
//! rate.

use units::{Bytes, Nanos};

use super::{figure::Figure, row::Row};

/// Times are rounded to 10 ms, so the duration of an interval may be off by this much.
const ROUNDING: f64 = 0.01;

/// In shorter intervals, the rounding error of the time exceeds 10 %. Transfer divided by rate is then more accurate.
const SHORT: f64 = 0.1;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IntervalVolume {
    pub(super) elapsed: Nanos,
    pub(super) bytes: Bytes,
}

pub(super) fn of(row: &Row) -> Option<IntervalVolume> {
    let printed = (row.end - row.start).seconds();
    let (transfer, rate) = (row.transfer, row.rate);
    if printed < SHORT && transfer.value > 0.0 && rate.value > 0.0 {
        let elapsed = transfer.value * 8.0 / rate.value;
        let off = elapsed * (relative(transfer) + relative(rate));
        let fits = (elapsed - printed).abs() <= ROUNDING + off;
        let bytes = Bytes(transfer.value.round() as u64);
        return fits.then(|| IntervalVolume { elapsed: Nanos((elapsed * 1e9).round() as u64), bytes });
    }
    if printed == 0.0 {
        return None;
    }
    // The log is damaged if rounding cannot explain the difference.
    let slack = |value: f64, within: f64| value * (ROUNDING / printed + 0.02) + within;
    let expected = rate.value * printed / 8.0;
    let allowed = slack(expected, rate.within * printed / 8.0) + transfer.within;
    if (expected - transfer.value).abs() > allowed {
        return None;
    }
    let by_rate = relative(rate) <= relative(transfer) + ROUNDING / printed;
    let bytes = if by_rate { transfer.nearest(expected) } else { transfer.value };
    let elapsed = if by_rate { bytes * 8.0 / rate.value } else { printed };
    let (elapsed, bytes) =
        if (elapsed - printed).abs() <= ROUNDING { (elapsed, bytes) } else { (printed, expected) };
    let elapsed = Nanos((elapsed * 1e9).round() as u64);
    Some(IntervalVolume { elapsed, bytes: Bytes(bytes.round() as u64) })
}

fn relative(number: Figure) -> f64 {
    if number.value > 0.0 { number.within / number.value } else { f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use units::BitRate;

    use super::*;
    use crate::iperf3::bracket::{BracketLine, bracketed};

    fn carried(text: &str) -> Option<IntervalVolume> {
        match bracketed(&format!("[  5] {text}")) {
            Some(BracketLine::Row(row)) => of(&row),
            other => panic!("{text}: {other:?}"),
        }
    }

    fn rate(text: &str) -> f64 {
        let carried = carried(text).expect("valid row");
        BitRate::of(carried.bytes, carried.elapsed).0
    }

    #[test]
    fn keeps_the_printed_rate() {
        for (text, bits) in [
            ("0.00-1.00   sec  3.17 GBytes  27.3 Gbits/sec", 27.3e9),
            ("0.00-60.00  sec   192 GBytes  27.4 Gbits/sec", 27.4e9),
            ("0.00-0.50   sec  1.00 MBytes  16.8 Mbits/sec", 16.8e6),
        ] {
            assert!((rate(text) / bits - 1.0).abs() < 1e-6, "{text}: {}", rate(text));
        }
    }

    #[test]
    fn keeps_the_printed_transfer() {
        for (text, bytes, bits) in [
            ("3.00-4.00   sec   108 MBytes   911 Mbits/sec", "108 MiB", "911 Mbit/s"),
            ("0.50-1.01   sec   169 MBytes  2.77 Gbits/sec", "169 MiB", "2.77 Gbit/s"),
        ] {
            let carried = carried(text).expect("valid row");
            let rate = BitRate::of(carried.bytes, carried.elapsed);
            assert_eq!((carried.bytes.to_string(), rate.to_string()), (bytes.into(), bits.into()), "{text}");
        }
    }

    #[test]
    fn keeps_the_printed_rate_of_a_tail_below_10_ms() {
        let tail = carried("60.00-60.00  sec  3.88 MBytes  26.4 Gbits/sec").expect("valid row");
        assert_eq!(tail.elapsed.0 / 10_000, 123);
        assert!((rate("10.00-10.00  sec   256 KBytes   768 Mbits/sec") / 768e6 - 1.0).abs() < 1e-3);
        assert_eq!(carried("10.00-10.00  sec  0.00 Bytes  0.00 bits/sec"), None);
        let still = carried("10.00-10.04  sec  0.00 Bytes  0.00 bits/sec").expect("no data for 40 ms");
        assert_eq!((still.elapsed, still.bytes), (Nanos(40_000_000), Bytes(0)));
    }

    #[test]
    fn uses_transfer_if_the_rate_has_fewer_digits() {
        // With -f g, iperf3 prints 30 Mbit/s as 0.03.
        for text in
            ["0.00-1.00   sec  3.70 MBytes  0.03 Gbits/sec", "0.00-1.00   sec  3.70 MBytes  0.00 Tbits/sec"]
        {
            assert_eq!(carried(text).expect("valid row").bytes, Bytes(3_879_731), "{text}");
        }
    }

    #[test]
    fn rejects_contradictory_numbers() {
        for text in [
            "0.00-1.00   sec  3.17 GBytes  27.3 Mbits/sec",
            "0.00-1.00   sec  0.00 Bytes  27.3 Gbits/sec",
            "60.00-60.00  sec  3.88 GBytes  26.4 Gbits/sec",
        ] {
            assert_eq!(carried(text), None, "{text}");
        }
    }
}
