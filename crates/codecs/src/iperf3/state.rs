//! The state bytes of the control connection (iperf_api.h).

/// A state, which one end tells the other as one signed byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(i8)]
pub enum State {
    /// From the server: every stream stands, prepare.
    TestStart = 1,
    /// From the server: send.
    TestRunning = 2,
    /// From the client: the test is over.
    TestEnd = 4,
    /// From the server: send the parameters.
    ParamExchange = 9,
    /// From the server: connect the streams.
    CreateStreams = 10,
    /// From the server: it was told to end.
    ServerTerminate = 11,
    /// From the client: it was told to end.
    ClientTerminate = 12,
    /// From the server: send your results, then read mine.
    ExchangeResults = 13,
    /// From the server: all was exchanged.
    DisplayResults = 14,
    /// Before anything was said.
    IperfStart = 15,
    /// From the client: good-bye.
    IperfDone = 16,
    /// From the server: it is busy with another client.
    AccessDenied = -1,
    /// From the server: an error, whose two numbers follow.
    ServerError = -2,
}

impl State {
    const ALL: [Self; 13] = [
        Self::TestStart,
        Self::TestRunning,
        Self::TestEnd,
        Self::ParamExchange,
        Self::CreateStreams,
        Self::ServerTerminate,
        Self::ClientTerminate,
        Self::ExchangeResults,
        Self::DisplayResults,
        Self::IperfStart,
        Self::IperfDone,
        Self::AccessDenied,
        Self::ServerError,
    ];

    /// The state that a byte means.
    #[must_use]
    pub fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.byte() == byte)
    }

    /// How it travels.
    #[must_use]
    pub const fn byte(self) -> u8 {
        (self as i8).cast_unsigned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_is_its_byte_and_no_other_byte_is_a_state() {
        let known: Vec<u8> = (0..=u8::MAX).filter(|byte| State::from_byte(*byte).is_some()).collect();
        assert_eq!(known, [1, 2, 4, 9, 10, 11, 12, 13, 14, 15, 16, 254, 255]);
        for byte in known {
            assert_eq!(State::from_byte(byte).map(State::byte), Some(byte));
        }
    }
}
