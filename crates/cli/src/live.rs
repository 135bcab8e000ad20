//! Progress lines while traffic flows.

pub(crate) mod connect;
pub(crate) mod ping_pong;
mod status;
mod stream;

pub(crate) use self::{ping_pong::LatestRoundTrips, status::StatusLine, stream::StreamLines};
