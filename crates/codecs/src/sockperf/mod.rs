//! sockperf's protocol: numbered messages with a header of 14 bytes, of which a server returns those that ask
//! for it. Over UDP a datagram is a message; over TCP they follow each other.
//!
//! There is no greeting and no farewell. Learnt from <https://github.com/Mellanox/sockperf> (src/message.h,
//! client.h, server.h, switches.h; versions 3.7 to 3.10) and from captures; see tests/captures/sockperf.
//! Nothing here takes memory by a length that a peer sent.

mod deframer;
mod exercise;
mod header;
mod question;
mod rule;
mod stream;

#[cfg(test)]
mod captures;

pub use deframer::{Deframer, Violation};
pub use exercise::exercise;
pub use header::{Flags, Header, MAX_MESSAGE, may_begin};
pub use question::{BadLength, Question};
pub use rule::{Reply, answer, answer_datagram};
pub use stream::{Counts, ServerStream};
