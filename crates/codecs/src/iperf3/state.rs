//! State bytes of the control connection (iperf_api.h).

use strum::FromRepr;

/// One signed byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, FromRepr)]
#[repr(i8)]
pub enum State {
    /// Server: all streams are established, prepare.
    TestStart = 1,
    /// Server: start sending.
    TestRunning = 2,
    TestEnd = 4,
    /// Server: send the parameters.
    ParamExchange = 9,
    /// Server: connect the streams.
    CreateStreams = 10,
    ServerTerminate = 11,
    ClientTerminate = 12,
    ExchangeResults = 13,
    /// Server: results exchanged.
    DisplayResults = 14,
    /// Initial state.
    IperfStart = 15,
    /// Client: finished.
    IperfDone = 16,
    /// Server: busy with another client.
    AccessDenied = -1,
    /// Server: an error; two numbers follow.
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
