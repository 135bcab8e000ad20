//! Frames of a session: kind, flow-control counters, and bytes.

const HEAD: usize = 1 + 8 + 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FrameKind {
    Chunk,
    Renewal,
    LastChunk,
    End,
    Break,
}

impl FrameKind {
    const ALL: [Self; 5] = [Self::Chunk, Self::Renewal, Self::LastChunk, Self::End, Self::Break];
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
        let kind = *FrameKind::ALL.get(usize::from(head[0]))?;
        let number = |at: usize| head[at..at + 8].try_into().map(u64::from_be_bytes).ok();
        Some(Self { kind, sent: number(1)?, consumed: number(9)?, bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_only_valid_frames() {
        for kind in FrameKind::ALL {
            let frame = Frame { kind, sent: 7, consumed: u64::MAX, bytes: b"bytes" };
            assert_eq!(Frame::decode(&frame.encode()), Some(frame));
        }
        for message in [&b""[..], b"\0", &[0; HEAD - 1], &[5; HEAD]] {
            assert_eq!(Frame::decode(message), None);
        }
    }
}
