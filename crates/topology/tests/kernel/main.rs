//! Labs raised in the real kernel, and what it says of them. Skipped where namespaces cannot be made.

mod configure;
mod queues;
mod raise;
mod reading;
#[path = "../support/mod.rs"]
mod support;
mod taps;
mod towards;
