//! What is printed while traffic flows: lines as compact as they can be read.

pub(crate) mod connect;
pub(crate) mod ping_pong;
mod status;
mod stream;

pub(crate) use self::{status::StatusLine, stream::StreamLines};
