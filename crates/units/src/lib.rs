//! Quantities with units: parsing, serialisation and printing.
//!
//! In memory and in JSON, a quantity is a plain number in its base unit (bytes, bits per second, nanoseconds). Text has
//! a suffix.

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
