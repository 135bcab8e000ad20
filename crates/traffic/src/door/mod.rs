//! The standing server: one port for every dialect, told apart by the first bytes.
//!
//! A peer has to show within a deadline, and within bounds, which dialect it speaks; until then it costs a
//! socket and a few bytes, never a thread, and never memory that it has named the size of. What follows is the
//! dialect's own: this room knows no protocol beyond its opening. It prints nothing and keeps no results; it
//! tells a [`Watcher`].

mod allow;
mod begin;
mod clerk;
mod config;
mod event;
mod failures;
mod front;
mod guests;
mod hush;
mod judge;
mod listen;
mod opening;
mod past;
mod poke;
mod requests;
mod rest;
mod serving;
mod sessions;
mod turns;
mod udp;

#[cfg(test)]
mod tests;

pub use config::{Auth, Config};

pub use crate::bounds::Limits;
pub use event::{Client, Dialect, Event, Refusal, Report, Watcher, Work};
pub use front::serve;
