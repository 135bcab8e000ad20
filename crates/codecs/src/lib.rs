//! The iperf3 and sockperf protocols as state machines without I/O. A length sent by the peer never determines how
//! much memory they allocate.

#[cfg(test)]
extern crate self as codecs;

pub mod iperf3;
pub mod sockperf;
