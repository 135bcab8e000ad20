//! `describe`: properties of this machine.

use protocol::Reply;
use samples::Environment;

/// The machine's fingerprint, and the cost of the traffic engine's own steps.
pub(crate) fn environment() -> Reply {
    Reply::Environment(Environment { engine: Some(traffic::calibrate()), ..probe::environment() })
}
