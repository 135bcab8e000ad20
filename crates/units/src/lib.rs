//! Quantities with a unit: how they are written by people, kept in documents and printed.
//!
//! A quantity is kept as a plain number in its base unit (bytes, bits per second, nanoseconds), both in
//! memory and in JSON; people write and read it with a suffix. Knows nothing of networks.

mod bitrate;
mod bytes;
mod nanos;
mod parse;
mod share;

pub use bitrate::BitRate;
pub use bytes::Bytes;
pub use nanos::Nanos;
pub use parse::ParseQuantityError;
pub use share::{Confidence, Share, significant};
