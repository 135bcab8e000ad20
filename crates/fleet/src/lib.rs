//! Hosts that are shared with others: who may measure on one. The host itself is the lock.
//!
//! Knows nothing of how a host is reached, nor of what is measured.

mod reservation;

pub use reservation::{Occupied, Reservation};
