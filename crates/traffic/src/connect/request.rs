//! The start of a connection: the handshake (32 bytes), then the total lengths of the request and the response (4 bytes
//! each). All fields are big endian. Shorter requests are padded to 40 bytes.

use units::Bytes;
use workload::ConnectSettings;

use crate::handshake::LENGTH;

pub(super) const HEAD: usize = LENGTH + SIZES;
pub(super) const SIZES: usize = 8;
pub(super) const LARGEST: Bytes = Bytes(16 << 20);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Exchange {
    pub(super) request: u32,
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
    fn lengths_round_trip_and_short_requests_are_padded() {
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
    fn rejects_invalid_lengths() {
        for (request, response) in
            [(39, 1), (40, 0), ((16 << 20) + 1, 1), (40, (16 << 20) + 1), (u32::MAX, 1)]
        {
            assert_eq!(Exchange::decode(Exchange { request, response }.encode()), None);
        }
    }
}
