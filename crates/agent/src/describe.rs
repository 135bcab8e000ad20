//! `describe`: what machine this is.

use protocol::Reply;

/// The machine's fingerprint.
pub(crate) fn environment() -> Reply {
    Reply::Environment(probe::environment())
}
