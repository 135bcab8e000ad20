//! Labs created in the real kernel. Skipped if namespaces cannot be created.

mod configure;
mod create;
mod existing_hosts;
mod outgoing_device;
mod path_counters;
mod queues;
#[path = "../support/mod.rs"]
mod support;
mod taps;
