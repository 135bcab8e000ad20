//! The sockperf protocol. Messages are numbered and have a 14-byte header. A server returns those that request it.
//! There is no handshake.
//!
//! Sources: <https://github.com/Mellanox/sockperf> (src/message.h, client.h, server.h, switches.h; versions 3.7 to
//! 3.10) and the captures in tests/captures/sockperf.

mod deframer;
#[cfg(test)]
#[path = "../../../../fuzz/src/sockperf.rs"]
mod exercise;
mod header;
mod question;
mod rule;
mod stream;

#[cfg(test)]
mod captures;

use deframer::Deframer;
pub use deframer::Violation;
pub use header::{Flags, Header, MAX_MESSAGE, may_begin};
pub use question::{BadLength, Question};
pub use rule::{Reply, answer, answer_datagram};
pub use stream::{Counts, ServerStream};
