//! Limits on amounts and rates of the peers of a server, by address and in total.
//!
//! A budget is an amount that is held (places, connections, memory) or a rate (replies, failed logins). Pure: the caller
//! passes the time.

mod amounts;
mod rates;
mod source;

pub use amounts::{Amounts, Budget, Exhausted, Share};
pub use rates::{Meter, Rate, Rates};
pub use source::Source;
