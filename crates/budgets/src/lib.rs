//! Limits the amounts (client slots, connections, memory) and rates available to a server's peers, per address and in
//! total. The caller passes the current time.

mod amounts;
mod rates;
mod source;

pub use amounts::{Amounts, Budget, Exhausted, Share};
pub use rates::{Meter, Rate, Rates};
pub use source::Source;
