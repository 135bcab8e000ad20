//! The frames of a session: a kind, counters for flow control, and data.

use strum::FromRepr;

const HEAD: usize = 1 + 8 + 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq, FromRepr)]
#[cfg_attr(test, derive(strum::VariantArray))]
#[repr(u8)]
pub(crate) enum FrameKind {
    Chunk,
    Renewal,
    LastChunk,
    End,
    Break,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame<'a> {
    pub(crate) kind: FrameKind,
    pub(crate) sent: u64,
    pub(crate) consumed: u64,
    pub(crate) bytes: &'a [u8],
}

impl<'a> Frame<'a> {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut message = Vec::with_capacity(HEAD + self.bytes.len());
        message.push(self.kind as u8);
        message.extend(self.sent.to_be_bytes());
        message.extend(self.consumed.to_be_bytes());
        message.extend(self.bytes);
        message
    }

    pub(crate) fn decode(message: &'a [u8]) -> Option<Self> {
        let (head, bytes) = message.split_at_checked(HEAD)?;
        let kind = FrameKind::from_repr(head[0])?;
        let number = |at: usize| head[at..at + 8].try_into().map(u64::from_be_bytes).ok();
        Some(Self { kind, sent: number(1)?, consumed: number(9)?, bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_only_valid_frames() {
        for kind in <FrameKind as strum::VariantArray>::VARIANTS {
            let frame = Frame { kind: *kind, sent: 7, consumed: u64::MAX, bytes: b"bytes" };
            assert_eq!(Frame::decode(&frame.encode()), Some(frame));
        }
        for message in [&b""[..], b"\0", &[0; HEAD - 1], &[5; HEAD]] {
            assert_eq!(Frame::decode(message), None);
        }
    }
}
