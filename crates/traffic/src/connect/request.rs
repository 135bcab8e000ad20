//! What a connection begins with: whose it is, what it will send and what it expects.
//!
//! The handshake (32 bytes), then big endian the length of the whole request (4) and of the response (4). These
//! 40 bytes are the beginning of the request: a shorter one is sent as 40 bytes. Pure: bytes in, values out.

use units::Bytes;
use workload::ConnectSettings;

use crate::handshake::LENGTH;

/// The beginning of every request.
pub(super) const HEAD: usize = LENGTH + SIZES;
/// The lengths that follow the handshake.
pub(super) const SIZES: usize = 8;
/// Neither is longer.
pub(super) const LARGEST: Bytes = Bytes(16 << 20);

/// The lengths of what goes over one connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Exchange {
    /// What the client sends in all.
    pub(super) request: u32,
    /// What the server answers.
    pub(super) response: u32,
}

impl Exchange {
    pub(super) fn of(load: &ConnectSettings) -> Self {
        let length = |bytes: Bytes| u32::try_from(bytes.0).unwrap_or(u32::MAX);
        Self { request: length(load.request).max(HEAD as u32), response: length(load.response) }
    }

    pub(super) fn encode(self) -> [u8; SIZES] {
        let mut bytes = [0; SIZES];
        bytes[..4].copy_from_slice(&self.request.to_be_bytes());
        bytes[4..].copy_from_slice(&self.response.to_be_bytes());
        bytes
    }

    /// `None` for lengths that no client asks for.
    pub(super) fn decode(bytes: [u8; SIZES]) -> Option<Self> {
        let [a, b, c, d, e, f, g, h] = bytes;
        let (request, response) = (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]));
        let sensible = (HEAD as u64..=LARGEST.0).contains(&u64::from(request))
            && (1..=LARGEST.0).contains(&u64::from(response));
        sensible.then_some(Self { request, response })
    }
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::*;

    #[test]
    fn lengths_survive_the_wire_and_short_requests_are_filled_up() {
        for (request, response, sent) in
            [(0, 1, 40), (40, 64, 40), (41, 1, 41), (16 << 20, 16 << 20, 16 << 20)]
        {
            let load = ConnectSettings {
                request: Bytes(request),
                response: Bytes(response),
                ..ConnectSettings::new(Nanos::from_secs(1))
            };
            let exchange = Exchange::of(&load);
            assert_eq!(exchange, Exchange { request: sent, response: response as u32 });
            assert_eq!(Exchange::decode(exchange.encode()), Some(exchange));
        }
    }

    #[test]
    fn lengths_that_nobody_asks_for_are_refused() {
        for (request, response) in
            [(39, 1), (40, 0), ((16 << 20) + 1, 1), (40, (16 << 20) + 1), (u32::MAX, 1)]
        {
            assert_eq!(Exchange::decode(Exchange { request, response }.encode()), None);
        }
    }
}
