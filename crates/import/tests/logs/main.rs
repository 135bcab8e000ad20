//! Logs as people have them, imported as the command line does it. What they are and how they were made is told in
//! tests/data/README.md.
#![expect(clippy::disallowed_methods, reason = "tests read files")]

mod bad_input;
mod captures;
mod cost;
mod imported;
mod iperf3;
mod partial;
mod tables;
mod unknown;
mod write_ups;
