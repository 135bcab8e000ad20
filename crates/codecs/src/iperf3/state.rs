//! The state bytes of the control connection (iperf_api.h).

use strum::FromRepr;

/// Sent as a single signed byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, FromRepr)]
#[repr(i8)]
pub enum State {
    /// From the server: all streams are established, so prepare the test.
    TestStart = 1,
    /// From the server: start sending.
    TestRunning = 2,
    TestEnd = 4,
    /// From the server: send the parameters.
    ParamExchange = 9,
    /// From the server: connect the streams.
    CreateStreams = 10,
    ServerTerminate = 11,
    ClientTerminate = 12,
    ExchangeResults = 13,
    /// From the server: the results have been exchanged.
    DisplayResults = 14,
    IperfStart = 15,
    /// From the client: it has finished.
    IperfDone = 16,
    /// From the server: it is busy with another client.
    AccessDenied = -1,
    /// From the server: an error, followed by two numbers.
    ServerError = -2,
}

impl State {
    #[must_use]
    pub const fn from_byte(byte: u8) -> Option<Self> {
        Self::from_repr(byte.cast_signed())
    }

    #[must_use]
    pub const fn byte(self) -> u8 {
        (self as i8).cast_unsigned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_bytes_of_states_parse() {
        let known: Vec<u8> = (0..=u8::MAX).filter(|byte| State::from_byte(*byte).is_some()).collect();
        assert_eq!(known, [1, 2, 4, 9, 10, 11, 12, 13, 14, 15, 16, 254, 255]);
        for byte in known {
            assert_eq!(State::from_byte(byte).map(State::byte), Some(byte));
        }
    }
}
