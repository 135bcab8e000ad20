//! Imports real-world logs as the command line does. tests/data/README.md describes the files.
#![expect(clippy::disallowed_methods, reason = "tests read files")]

mod bad_input;
mod captures;
mod cost;
mod generated;
mod imported;
mod iperf3;
mod partial;
mod posts;
mod tables;
mod unknown;
mod write_ups;
