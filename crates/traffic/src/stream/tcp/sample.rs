//! Samples TCP_INFO. Records counters as differences, and other values unchanged.

use std::net::TcpStream;

use sys::socket::{TcpInfo, tcp_info};
use units::{BitRate, Bytes, Nanos};
use workload::TcpSample;

use crate::stream::{interval_sampler::Sampled, series::Reading};

pub(super) struct Tcp<'a> {
    socket: &'a TcpStream,
    seen: Counters,
}

#[derive(Clone, Copy, Default)]
struct Counters {
    retransmits: u32,
    reorderings: u32,
    out_of_order: u32,
    segments: u32,
    receive_window: u64,
    send_buffer: u64,
}

impl<'a> Tcp<'a> {
    pub(super) fn of(socket: &'a TcpStream) -> Self {
        Self { socket, seen: Counters::default() }
    }
}

impl Sampled for Tcp<'_> {
    fn begin(&mut self) {
        self.seen = tcp_info(self.socket).as_ref().map(Counters::of).unwrap_or_default();
    }

    fn sample(&mut self) -> Reading {
        let tcp = tcp_info(self.socket).ok().map(|info| self.seen.sample(&info));
        Reading { tcp, ..Reading::default() }
    }
}

impl Counters {
    const fn of(info: &TcpInfo) -> Self {
        Self {
            retransmits: info.total_retrans,
            reorderings: info.reord_seen,
            out_of_order: info.rcv_ooopack,
            segments: info.segs_out,
            receive_window: info.rwnd_limited_us,
            send_buffer: info.sndbuf_limited_us,
        }
    }

    fn sample(&mut self, info: &TcpInfo) -> TcpSample {
        let now = Self::of(info);
        let before = std::mem::replace(self, now);
        let micros = |now: u64, before: u64| Nanos(now.saturating_sub(before) * 1000);
        TcpSample {
            retransmits: now.retransmits.wrapping_sub(before.retransmits),
            cwnd: Bytes(u64::from(info.snd_cwnd) * u64::from(info.snd_mss)),
            rtt: Nanos(u64::from(info.rtt_us) * 1000),
            rtt_variation: Nanos(u64::from(info.rttvar_us) * 1000),
            pacing: rate(info.pacing_rate),
            receive_window_limited: micros(now.receive_window, before.receive_window),
            send_buffer_limited: micros(now.send_buffer, before.send_buffer),
            reorderings: now.reorderings.wrapping_sub(before.reorderings),
            out_of_order: now.out_of_order.wrapping_sub(before.out_of_order),
            least_rtt: least(info.min_rtt_us),
            delivery: rate(info.delivery_rate),
            offered_window: Bytes(u64::from(info.rcv_wnd)),
            segments: now.segments.wrapping_sub(before.segments),
        }
    }
}

/// Converts a rate in bytes per second from the kernel. All bits are set if the rate is unknown.
fn rate(bytes: u64) -> Option<BitRate> {
    (bytes != u64::MAX && bytes != 0).then_some(BitRate(bytes as f64 * 8.0))
}

/// Converts a time in microseconds from the kernel. All bits are set if there is no sample yet.
fn least(micros: u32) -> Option<Nanos> {
    (micros != u32::MAX && micros != 0).then_some(Nanos(u64::from(micros) * 1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_differences_and_states_are_latest() {
        let info = |total_retrans, rwnd_limited_us, snd_cwnd| TcpInfo {
            total_retrans,
            rwnd_limited_us,
            snd_cwnd,
            snd_mss: 1000,
            rtt_us: 5,
            pacing_rate: u64::MAX,
            reord_seen: total_retrans * 2,
            rcv_ooopack: total_retrans * 3,
            segs_out: total_retrans.wrapping_sub(4),
            min_rtt_us: snd_cwnd,
            delivery_rate: 1000,
            rcv_wnd: 77,
            ..TcpInfo::default()
        };
        let mut counters = Counters::of(&info(3, 10, 10));
        let samples = [counters.sample(&info(5, 30, 20)), counters.sample(&info(9, 37, u32::MAX))];
        let found: Vec<_> = samples
            .iter()
            .map(|tcp| (tcp.retransmits, tcp.receive_window_limited.0, tcp.reorderings, tcp.out_of_order))
            .collect();
        assert_eq!(found, [(2, 20_000, 4, 6), (4, 7_000, 8, 12)]);
        assert_eq!(samples.map(|tcp| tcp.segments), [2, 4], "the first counter wrapped around");
        assert_eq!((samples[0].cwnd, samples[0].least_rtt), (Bytes(20_000), Some(Nanos(20_000))));
        assert_eq!(samples[1].least_rtt, None);
        for tcp in samples {
            assert!(tcp.pacing.is_none() && tcp.rtt == Nanos(5000), "{tcp:?}");
            assert_eq!((tcp.delivery, tcp.offered_window), (Some(BitRate(8000.0)), Bytes(77)));
        }
    }
}
