//! State of a TCP connection (`struct tcp_info` in linux/tcp.h).
#![expect(unsafe_code, reason = "TCP_INFO has no rustix wrapper")]

use std::os::fd::{AsFd, AsRawFd};

use linux_raw_sys::net::tcp_info as Raw;

use super::named;
use crate::error::{Error, Result};

/// Counters start at connection setup. Fields that an older kernel does not know are 0, see
/// [`TcpInfo::length`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// The number of bytes that the kernel filled in. Older kernels fill in fewer.
    pub length: usize,
    /// 1 is ESTABLISHED (net/tcp_states.h).
    pub state: u8,
    /// 0 is open, 1 disorder, 2 CWR, 3 recovery, 4 loss.
    pub ca_state: u8,
    /// Whether the application limited the latest [`TcpInfo::delivery_rate`].
    pub delivery_rate_app_limited: bool,
    pub rto_us: u32,
    pub ato_us: u32,
    pub snd_mss: u32,
    pub rcv_mss: u32,
    pub unacked: u32,
    pub lost: u32,
    pub retrans: u32,
    pub last_ack_recv_ms: u32,
    pub pmtu: u32,
    pub rtt_us: u32,
    /// The mean deviation of the round-trip time.
    pub rttvar_us: u32,
    pub min_rtt_us: u32,
    /// In segments.
    pub snd_ssthresh: u32,
    /// In segments.
    pub snd_cwnd: u32,
    /// The target of the autotuned receive buffer, in bytes.
    pub rcv_space: u32,
    pub total_retrans: u32,
    pub pacing_rate: u64,
    pub max_pacing_rate: u64,
    /// Latest value, in bytes/s.
    pub delivery_rate: u64,
    pub bytes_acked: u64,
    pub bytes_received: u64,
    pub bytes_sent: u64,
    pub bytes_retrans: u64,
    pub segs_in: u32,
    pub segs_out: u32,
    pub data_segs_in: u32,
    pub data_segs_out: u32,
    /// The time during which there was data to send.
    pub busy_time_us: u64,
    pub rwnd_limited_us: u64,
    pub sndbuf_limited_us: u64,
    /// Bytes written by the application but not yet sent.
    pub notsent_bytes: u32,
    pub reord_seen: u32,
    pub rcv_ooopack: u32,
    /// The window advertised by the peer, in bytes.
    pub snd_wnd: u32,
    /// The window advertised to the peer, in bytes.
    pub rcv_wnd: u32,
}

pub fn tcp_info(fd: impl AsFd) -> Result<TcpInfo> {
    read(&fd, size_of::<Raw>())
}

fn read(fd: &impl AsFd, limit: usize) -> Result<TcpInfo> {
    // SAFETY: `tcp_info` consists of integers, for which zero is valid.
    let mut raw: Raw = unsafe { std::mem::zeroed() };
    let limit = limit.min(size_of::<Raw>());
    let mut length = libc::socklen_t::try_from(limit).expect("a few hundred bytes");
    let socket = fd.as_fd().as_raw_fd();
    let to = (&raw mut raw).cast();
    // SAFETY: the kernel writes at most `length` bytes to `raw`, which is at least that size.
    let status = unsafe { libc::getsockopt(socket, libc::IPPROTO_TCP, libc::TCP_INFO, to, &raw mut length) };
    if status < 0 {
        return Err(Error::last("read TCP_INFO of", named(fd)));
    }
    Ok(TcpInfo { length: usize::try_from(length).unwrap_or(0), ..plain(&raw) })
}

fn plain(raw: &Raw) -> TcpInfo {
    TcpInfo {
        length: 0,
        state: raw.tcpi_state,
        ca_state: raw.tcpi_ca_state,
        delivery_rate_app_limited: raw.tcpi_delivery_rate_app_limited() != 0,
        rto_us: raw.tcpi_rto,
        ato_us: raw.tcpi_ato,
        snd_mss: raw.tcpi_snd_mss,
        rcv_mss: raw.tcpi_rcv_mss,
        unacked: raw.tcpi_unacked,
        lost: raw.tcpi_lost,
        retrans: raw.tcpi_retrans,
        last_ack_recv_ms: raw.tcpi_last_ack_recv,
        pmtu: raw.tcpi_pmtu,
        rtt_us: raw.tcpi_rtt,
        rttvar_us: raw.tcpi_rttvar,
        min_rtt_us: raw.tcpi_min_rtt,
        snd_ssthresh: raw.tcpi_snd_ssthresh,
        snd_cwnd: raw.tcpi_snd_cwnd,
        rcv_space: raw.tcpi_rcv_space,
        total_retrans: raw.tcpi_total_retrans,
        pacing_rate: raw.tcpi_pacing_rate,
        max_pacing_rate: raw.tcpi_max_pacing_rate,
        delivery_rate: raw.tcpi_delivery_rate,
        bytes_acked: raw.tcpi_bytes_acked,
        bytes_received: raw.tcpi_bytes_received,
        bytes_sent: raw.tcpi_bytes_sent,
        bytes_retrans: raw.tcpi_bytes_retrans,
        segs_in: raw.tcpi_segs_in,
        segs_out: raw.tcpi_segs_out,
        data_segs_in: raw.tcpi_data_segs_in,
        data_segs_out: raw.tcpi_data_segs_out,
        busy_time_us: raw.tcpi_busy_time,
        rwnd_limited_us: raw.tcpi_rwnd_limited,
        sndbuf_limited_us: raw.tcpi_sndbuf_limited,
        notsent_bytes: raw.tcpi_notsent_bytes,
        reord_seen: raw.tcpi_reord_seen,
        rcv_ooopack: raw.tcpi_rcv_ooopack,
        snd_wnd: raw.tcpi_snd_wnd,
        rcv_wnd: raw.tcpi_rcv_wnd,
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;
    use crate::netns::testing::bring_loopback_up;
    use crate::socket::testing;

    fn transfer(bytes: usize) -> (TcpInfo, TcpInfo) {
        let (mut client, mut server) = testing::connected();
        let reader = std::thread::spawn(move || {
            let mut got = vec![0; bytes];
            server.read_exact(&mut got).expect("all of it");
            (tcp_info(&server).expect("TCP"), server)
        });
        client.write_all(&vec![7; bytes]).expect("loopback");
        let (receiver, _server) = reader.join().expect("no panic");
        (tcp_info(&client).expect("TCP"), receiver)
    }

    #[test]
    fn both_ends_count_transferred_bytes() {
        let bytes = 1_000_000;
        let work = || {
            bring_loopback_up();
            transfer(bytes)
        };
        let (sender, receiver) = match crate::netns::testing::namespace() {
            Some(ns) => ns.run_in(work).expect("enters"),
            None => transfer(bytes),
        };
        let bytes = u64::try_from(bytes).expect("fits");
        assert_eq!(sender.bytes_sent, bytes + sender.bytes_retrans);
        assert_eq!(receiver.bytes_received, bytes);
        assert_eq!(receiver.bytes_sent, 0);
        assert!(sender.length >= 200, "{}", sender.length);
        assert_eq!(sender.state, 1);
        assert!(sender.data_segs_out > 0 && sender.segs_out >= sender.data_segs_out);
        assert!(receiver.data_segs_in > 0 && receiver.segs_in >= receiver.data_segs_in);
        assert!(sender.snd_cwnd > 0 && sender.rtt_us > 0 && sender.rto_us >= sender.rtt_us);
        assert!(sender.pmtu >= sender.snd_mss && sender.snd_mss >= 536);
        assert!(sender.bytes_acked <= bytes + 1 && sender.snd_wnd > 0 && receiver.rcv_wnd > 0);
    }

    #[test]
    fn fields_unknown_to_older_kernels_are_zero() {
        let (client, _server) = testing::connected();
        let whole = tcp_info(&client).expect("TCP");
        // In Linux 3.14, the structure ended before the field for the pacing rate.
        let old = read(&client, std::mem::offset_of!(Raw, tcpi_pacing_rate)).expect("TCP");
        assert_eq!(old.length, 104);
        assert_eq!((old.state, old.snd_mss, old.pmtu), (whole.state, whole.snd_mss, whole.pmtu));
        assert!(whole.max_pacing_rate > 0 && old.max_pacing_rate == 0);
        assert!(whole.snd_wnd > 0 && old.snd_wnd == 0);
    }

    #[test]
    fn rejects_other_sockets() {
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").expect("loopback");
        assert!(tcp_info(&socket).expect_err("no TCP").is_unsupported());
    }
}
