//! `describe`: what machine this is.

use protocol::Reply;
use samples::Environment;

/// The machine's fingerprint, and what traffic's own steps cost on it.
pub(crate) fn environment() -> Reply {
    Reply::Environment(Environment { engine: Some(traffic::calibrate()), ..probe::environment() })
}
