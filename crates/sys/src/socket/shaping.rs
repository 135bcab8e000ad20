//! Options for segmentation, coalescing and pacing.

use std::os::fd::AsFd;

use super::integer;
use crate::error::Result;

const UDP_SEGMENT: u32 = 103;
const UDP_GRO: u32 = 104;

/// Makes the kernel split messages into datagrams with `bytes` of payload (GSO, UDP_SEGMENT in udp(7)). If
/// `bytes` is 0, messages are not split. A message may have up to 64 datagrams and 65,507 bytes, and each
/// datagram must fit the MTU. A [`SendBatch`](super::SendBatch) sets this for each message.
pub fn set_udp_segment(fd: impl AsFd, bytes: u16) -> Result<()> {
    integer::set(&fd, libc::IPPROTO_UDP, UDP_SEGMENT, i32::from(bytes), "set UDP_SEGMENT on")
}

/// Makes the kernel coalesce datagrams of a flow into one message (GRO, UDP_GRO in udp(7)), which only
/// [`ReceiveBatch`](super::ReceiveBatch) can split.
pub fn set_udp_gro(fd: impl AsFd, on: bool) -> Result<()> {
    integer::set(&fd, libc::IPPROTO_UDP, UDP_GRO, i32::from(on), "set UDP_GRO on")
}

/// Limits the rate, including headers. `u64::MAX` means unlimited (SO_MAX_PACING_RATE in socket(7)). TCP paces
/// itself, but UDP needs the `fq` queueing discipline.
pub fn set_max_pacing_rate(fd: impl AsFd, bytes_per_second: u64) -> Result<()> {
    let name = linux_raw_sys::net::SO_MAX_PACING_RATE;
    integer::set(&fd, libc::SOL_SOCKET, name, bytes_per_second, "set SO_MAX_PACING_RATE on")
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;
    use crate::socket::{tcp_info, testing};

    #[test]
    fn pacing_limit_appears_in_tcp_info() {
        let (client, _server) = testing::connected();
        assert_eq!(tcp_info(&client).expect("TCP").max_pacing_rate, u64::MAX);
        for rate in [12_500_000, 12_500_000_000, u64::MAX] {
            set_max_pacing_rate(&client, rate).expect("any socket");
            assert_eq!(tcp_info(&client).expect("TCP").max_pacing_rate, rate);
        }
    }

    #[test]
    fn reads_segmentation_and_coalescing_back() {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback");
        let read = |name| integer::get_int(&&socket, libc::IPPROTO_UDP, name, "read").expect("UDP");
        for bytes in [1400, 65_507, 0] {
            set_udp_segment(&socket, bytes).expect("since Linux 4.18");
            assert_eq!(read(UDP_SEGMENT), i32::from(bytes));
        }
        for on in [true, false] {
            set_udp_gro(&socket, on).expect("since Linux 5.0");
            assert_eq!(read(UDP_GRO), i32::from(on));
        }
    }
}
