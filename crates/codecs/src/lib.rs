//! Protocols of iperf3 and sockperf as state machines without I/O. Never allocates by a length that a peer sent.

#[cfg(test)]
extern crate self as codecs;

pub mod iperf3;
pub mod sockperf;
