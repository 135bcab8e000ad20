//! Quantities with units. In memory and in JSON they are plain numbers in the base unit (bytes, bits per second,
//! nanoseconds). In text they have a suffix.

mod bitrate;
mod bytes;
mod digits;
mod nanos;
mod parse;
mod share;
mod text;

pub use bitrate::BitRate;
pub use bytes::Bytes;
pub use digits::significant;
pub use nanos::Nanos;
pub use parse::ParseQuantityError;
pub use share::{Confidence, Share};
pub use text::{from_text, some_from_text};
