//! Limits on amounts (client slots, connections, memory) and rates of a server's peers, by address and in total. The caller
//! passes the time.

mod amounts;
mod rates;
mod source;

pub use amounts::{Amounts, Budget, Exhausted, Share};
pub use rates::{Meter, Rate, Rates};
pub use source::Source;
