//! Tests of labs in the real kernel. They are skipped if namespaces cannot be created.

mod configure;
mod create;
mod existing_hosts;
mod families;
mod outgoing_device;
mod path_counters;
mod queues;
#[path = "../support/mod.rs"]
mod support;
mod taps;
