//! Error numbers sent by an iperf3 server (`i_errno` in iperf_api.h), and plumb's own.

use std::fmt;

use units::{BitRate, Bytes, Nanos};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ErrorCode(pub i32);

macro_rules! codes {
    ($($name:ident = $number:literal, $system:literal, $text:literal;)*) => {
        impl ErrorCode {
            $(#[doc = concat!("`", $text, "`")] pub const $name: Self = Self($number);)*

            const fn known(self) -> Option<(&'static str, bool)> {
                match self.0 {
                    $($number => Some(($text, $system)),)*
                    _ => None,
                }
            }
        }

        #[cfg(test)]
        const ALL: &[ErrorCode] = &[$(ErrorCode::$name),*];
    };
}

codes! {
    DURATION = 5, false, "test duration valid values are 0 to 86400 seconds";
    STREAMS = 6, false, "invalid number of parallel streams (min = 1, max = 128)";
    BLOCK_SIZE = 7, false, "block size too large (maximum = 1048576 bytes)";
    WINDOW = 8, false, "socket buffer size too large (maximum = 536870912 bytes)";
    MSS = 10, false, "TCP MSS too large (maximum = 32767 bytes)";
    OMIT = 12, false, "bogus value for --omit (maximum = 600 seconds)";
    UNIMPLEMENTED = 13, false, "an option you are trying to set is not implemented yet";
    BURST = 15, false, "invalid burst count (maximum = 1000)";
    NO_SCTP = 18, false, "no SCTP support available";
    UDP_BLOCK_SIZE = 20, false, "block size invalid (minimum = 16 bytes, maximum = 65507 bytes)";
    TOS = 21, false, "bad TOS value (must be between 0 and 255 inclusive)";
    REVERSE_AND_BOTH = 25, false, "cannot be both reverse and bidirectional";
    TOTAL_RATE = 27, false, "total required bandwidth is larger than server limit";
    MAX_DURATION = 37, false, "client's requested duration exceeds the server's maximum permitted limit";
    INIT_TEST = 101, true, "test initialization failed";
    ACCEPT = 104, true, "unable to accept connection from client";
    RECEIVE_COOKIE = 106, true, "unable to receive cookie at server";
    CONTROL_CLOSED = 109, false, "control socket has closed unexpectedly";
    MESSAGE = 110, false, "received an unknown control message (ensure other side is iperf3 and not iperf)";
    RECEIVE_PARAMS = 114, true, "unable to receive parameters from client";
    SEND_RESULTS = 116, true, "unable to send results";
    RECEIVE_RESULTS = 117, true, "unable to receive results";
    CLIENT_TERMINATED = 119, false, "the client has terminated";
    SERVER_TERMINATED = 120, false, "the server has terminated";
    ACCESS_DENIED = 121, false, "the server is busy running a test. try again later";
    SET_NODELAY = 122, true, "unable to set TCP/SCTP NODELAY";
    SET_MSS = 123, true, "unable to set TCP/SCTP MSS";
    SET_BUFFER = 124, true, "unable to set socket buffer size";
    SET_TOS = 125, true, "unable to set IP TOS";
    AFFINITY = 132, true, "unable to set CPU affinity";
    SET_CONGESTION = 134, false,
        "unable to set TCP_CONGESTION: Supplied congestion control algorithm not supported on this host";
    SET_PACING = 140, true, "unable to set socket pacing";
    SET_BUFFER_SIZE = 141, false, "socket buffer size not set correctly";
    AUTHORIZATION = 142, false, "test authorization failed";
    NO_MESSAGE = 144, false, "idle timeout for receiving data";
    DURATION_EXPIRED = 160, true, "server test duration expired";
    CREATE_STREAM = 200, true, "unable to create a new stream";
    INIT_STREAM = 201, true, "unable to initialize stream";
    STREAM_LISTEN = 202, true, "unable to start stream listener";
    STREAM_CONNECT = 203, true, "unable to connect stream";
    STREAM_ACCEPT = 204, true, "unable to accept stream connection";
    STREAM_WRITE = 205, true, "unable to write to stream socket";
    STREAM_READ = 206, true, "unable to read from stream socket";
    STREAM_CLOSED = 207, false, "stream socket has closed unexpectedly";
    STREAM_ID = 208, false, "stream has an invalid id";
    LIMIT_TIME = 9101, false, "the test lasts longer than this server allows";
    LIMIT_BYTES = 9102, false, "the test transfers more than this server allows";
    LIMIT_RATE = 9103, false, "the test is faster than this server allows";
    LIMIT_ADDRESS = 9104, false,
        "the server already has the maximum number of clients or connections from this address (--max-clients-per-address)";
}

impl ErrorCode {
    #[must_use]
    pub fn of_time(limit: Nanos) -> (Self, i32) {
        (Self::LIMIT_TIME, wire_value(limit.0 / 1_000_000))
    }

    #[must_use]
    pub fn of_bytes(limit: Bytes) -> (Self, i32) {
        (Self::LIMIT_BYTES, wire_value(limit.0 >> 10))
    }

    #[must_use]
    pub fn of_rate(limit: BitRate) -> (Self, i32) {
        (Self::LIMIT_RATE, wire_value((limit.0 / 1e3) as u64))
    }

    fn limit(self, value: i32) -> Option<String> {
        let of = |limit: &dyn fmt::Display| if value > 0 { format!(" of {limit}") } else { String::new() };
        let number = u64::try_from(value).unwrap_or(0);
        Some(match self {
            Self::LIMIT_TIME => {
                let most = of(&Nanos::from_millis(number));
                format!("the server limits a test to --max-duration{most}; request less with -t")
            }
            Self::LIMIT_BYTES => {
                let most = of(&Bytes(number << 10));
                format!("the server limits a test to --max-bytes{most}; request less with -n, -t or -b")
            }
            Self::LIMIT_RATE => {
                let most = of(&BitRate(number as f64 * 1e3));
                format!(
                    "the server limits the rate of all connections together to --max-rate{most} and ends faster tests \
                 instead of slowing them down; pace with -b"
                )
            }
            _ => return None,
        })
    }

    #[must_use]
    pub fn describe(self, errno: i32) -> String {
        if let Some(limit) = self.limit(errno) {
            return limit;
        }
        if self == Self::AUTHORIZATION && errno == NOT_ALLOWED {
            return "this address is not allowed (--allow); ask the server's operator to add it".into();
        }
        let system = (errno > 0).then(|| std::io::Error::from_raw_os_error(errno));
        match (self.known(), system) {
            (Some((text, true)), Some(system)) => format!("{text}: {system}"),
            (Some((text, _)), _) => text.to_owned(),
            (None, Some(system)) => format!("iperf3's error {}: {system}", self.0),
            (None, None) => format!("iperf3's error {}", self.0),
        }
    }
}

/// Sent with [`ErrorCode::AUTHORIZATION`] if the address is not allowed (EACCES).
pub const NOT_ALLOWED: i32 = 13;

fn wire_value(number: u64) -> i32 {
    i32::try_from(number).unwrap_or(0)
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn describes_errors_with_iperf3_and_errno_messages() {
        for (code, errno, expected) in [
            (121, 0, "the server is busy running a test. try again later"),
            (142, 2, "test authorization failed"),
            (203, 111, "unable to connect stream: Connection refused (os error 111)"),
            (203, 0, "unable to connect stream"),
            (999, 0, "iperf3's error 999"),
        ] {
            assert_eq!(ErrorCode(code).describe(errno), expected);
        }
    }

    #[test]
    fn describes_limits_with_value_and_flag() {
        for ((code, number), expected) in [
            (ErrorCode::of_time(Nanos::from_secs(5)), "--max-duration of 5.00 s"),
            (ErrorCode::of_bytes(Bytes(1 << 30)), "--max-bytes of 1.00 GiB"),
            (ErrorCode::of_rate(BitRate(1e9)), "--max-rate of 1.00 Gbit/s"),
            (ErrorCode::of_bytes(Bytes(u64::MAX)), "--max-bytes; request"),
            ((ErrorCode::AUTHORIZATION, NOT_ALLOWED), "--allow"),
        ] {
            let text = code.describe(number);
            assert!(text.contains(expected), "{text}");
        }
    }

    #[test]
    fn numbers_are_unique_and_sorted() {
        assert!(ALL.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
