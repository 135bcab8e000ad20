//! Limits of an iperf3 server (`get_parameters` in iperf_api.c, iperf.h).

use std::ops::RangeInclusive;

use workload::Transport;

use super::Params;
use crate::iperf3::ErrorCode;

pub(super) const MAX_STREAMS: usize = 128;

impl Params {
    /// Makes the same checks as iperf3's server.
    pub fn check(&self) -> Result<(), ErrorCode> {
        if self.sctp {
            return Err(ErrorCode::NO_SCTP);
        }
        if self.reverse && self.bidirectional {
            return Err(ErrorCode::REVERSE_AND_BOTH);
        }
        let any = 0..=i64::MAX;
        let ranges: [(i64, RangeInclusive<i64>, ErrorCode); 13] = [
            (self.omit, 0..=600, ErrorCode::OMIT),
            (self.server_affinity.unwrap_or(0), 0..=1024, ErrorCode::AFFINITY),
            (self.time, 0..=86400, ErrorCode::DURATION),
            (self.num, any.clone(), ErrorCode::RECEIVE_PARAMS),
            (self.blockcount, any.clone(), ErrorCode::RECEIVE_PARAMS),
            (self.mss, 0..=32767, ErrorCode::MSS),
            (self.parallel.unwrap_or(1), 1..=MAX_STREAMS as i64, ErrorCode::STREAMS),
            (self.window, 0..=512 << 20, ErrorCode::WINDOW),
            (self.len, self.lengths(), self.length_code()),
            (self.bandwidth, any.clone(), ErrorCode::RECEIVE_PARAMS),
            (self.fqrate, any, ErrorCode::RECEIVE_PARAMS),
            (self.burst, 0..=1000, ErrorCode::BURST),
            (self.tos, 0..=255, ErrorCode::TOS),
        ];
        match ranges.into_iter().find(|(value, range, _)| !range.contains(value)) {
            Some((_, _, code)) => Err(code),
            None => Ok(()),
        }
    }

    /// If a UDP client omits the length, datagrams may have any length.
    fn lengths(&self) -> RangeInclusive<i64> {
        match self.transport() {
            Transport::Udp if self.len == 0 => 0..=0,
            Transport::Udp => 16..=65507,
            Transport::Tcp => 0..=1 << 20,
        }
    }

    const fn length_code(&self) -> ErrorCode {
        match self.transport() {
            Transport::Udp => ErrorCode::UDP_BLOCK_SIZE,
            Transport::Tcp => ErrorCode::BLOCK_SIZE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_parameters_out_of_range_with_iperf3s_number() {
        let tcp = Params { tcp: true, time: 10, len: 131_072, ..Params::default() };
        let udp = Params { udp: true, len: 1448, ..Params::default() };
        for (params, code) in [
            (Params { omit: 601, ..tcp.clone() }, 12),
            (Params { time: 86401, ..tcp.clone() }, 5),
            (Params { time: -1, ..tcp.clone() }, 5),
            (Params { num: -1, ..tcp.clone() }, 114),
            (Params { mss: 32768, ..tcp.clone() }, 10),
            (Params { parallel: Some(0), ..tcp.clone() }, 6),
            (Params { parallel: Some(129), ..tcp.clone() }, 6),
            (Params { window: (512 << 20) + 1, ..tcp.clone() }, 8),
            (Params { len: (1 << 20) + 1, ..tcp.clone() }, 7),
            (Params { len: 15, ..udp.clone() }, 20),
            (Params { len: 65508, ..udp.clone() }, 20),
            (Params { burst: 1001, ..udp.clone() }, 15),
            (Params { tos: 256, ..tcp.clone() }, 21),
            (Params { sctp: true, ..Params::default() }, 18),
            (Params { reverse: true, bidirectional: true, ..tcp.clone() }, 25),
        ] {
            assert_eq!(params.check(), Err(ErrorCode(code)), "{params:?}");
        }
        for params in [tcp, udp.clone(), Params { len: 0, ..udp }, Params::default()] {
            assert_eq!(params.check(), Ok(()), "{params:?}");
        }
    }
}
