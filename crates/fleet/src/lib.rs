//! Hosts that are shared with others: who may measure on one, and who does. The host itself is the lock.
//!
//! Knows nothing of how a host is reached, nor of what is measured.

mod abstract_name;
mod presence;
mod reservation;

pub use presence::Presence;
pub use reservation::{Occupied, Reservation};
