//! Handles `describe`, which reports the properties of this machine.

use protocol::Reply;
use samples::Environment;

pub(crate) fn environment() -> Reply {
    Reply::Environment(Environment { engine: Some(traffic::calibrate()), ..probe::environment() })
}
