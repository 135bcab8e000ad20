//! Socket options and calls that the standard library lacks.

mod addressed;
mod datagram;
mod integer;
mod options;
mod packet;
mod peer;
mod shaping;
mod tcp_info;
mod transfer;
mod zero_copy;

pub use addressed::{receive_addressed, send_addressed, set_destination_reported};
pub use datagram::{ReceiveBatch, SendBatch};
pub use options::{
    allowed_congestion, available_congestion, busy_poll, congestion, largest_send_buffer, mss, nodelay,
    path_mtu, probe_keepalive, receive_buffer, send_buffer, set_busy_poll, set_congestion, set_keepalive,
    set_linger_zero, set_mss, set_mtu_probe, set_nodelay, set_receive_buffer, set_receive_timeout,
    set_reuse_address, set_reuse_port, set_send_buffer, set_send_timeout, set_tos, tos,
};
pub use packet::frame_sender;
pub use peer::peer_pid;
pub use shaping::{set_max_pacing_rate, set_udp_gro, set_udp_segment};
pub use tcp_info::{TcpInfo, tcp_info};
pub use transfer::{recv_nonblocking, recv_spinning, recv_truncated, send_nonblocking};
pub use zero_copy::ZeroCopySender;

use std::os::fd::{AsFd, AsRawFd};

fn named(fd: &impl AsFd) -> String {
    format!("socket {}", fd.as_fd().as_raw_fd())
}

#[cfg(test)]
mod testing {
    use std::net::{TcpListener, TcpStream};

    pub(super) fn connected() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let client = TcpStream::connect(listener.local_addr().expect("bound")).expect("loopback");
        (client, listener.accept().expect("just connected").0)
    }

    #[expect(unsafe_code, reason = "an ioctl without a rustix wrapper")]
    pub(super) fn set_loopback_mtu(bytes: i32) {
        use std::os::fd::AsRawFd;
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").expect("loopback");
        // SAFETY: `ifreq` is plain data, so zeros are valid.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        request.ifr_name[0] = b'l'.cast_signed();
        request.ifr_name[1] = b'o'.cast_signed();
        request.ifr_ifru.ifru_mtu = bytes;
        // SAFETY: SIOCSIFMTU only reads the `ifreq`.
        let status = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFMTU as _, &raw mut request) };
        assert_eq!(status, 0);
    }
}
