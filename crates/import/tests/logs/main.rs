//! Imports real-world logs in the same way as the command line. tests/data/README.md describes the files.
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
