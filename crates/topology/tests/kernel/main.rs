//! Labs raised in the real kernel, and what it says of them. Skipped where namespaces cannot be made.

mod beside;
mod configure;
mod create;
mod outgoing_device;
mod path_counters;
mod queues;
#[path = "../support/mod.rs"]
mod support;
mod taps;
