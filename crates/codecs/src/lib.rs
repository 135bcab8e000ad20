//! The iperf3 and sockperf protocols as state machines without I/O. Their memory use never depends on a length sent by
//! the peer.

#[cfg(test)]
extern crate self as codecs;

pub mod iperf3;
pub mod sockperf;
