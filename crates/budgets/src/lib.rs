//! Limits on amounts and rates of a server's peers, by address and in total.
//!
//! A budget is a reserved amount (client slots, connections, memory) or a rate (replies, failed logins). Pure: the
//! caller passes the time.

mod amounts;
mod rates;
mod source;

pub use amounts::{Amounts, Budget, Exhausted, Share};
pub use rates::{Meter, Rate, Rates};
pub use source::Source;
