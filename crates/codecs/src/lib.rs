//! The dialects of iperf3 and sockperf: bytes in, bytes and events out.
//!
//! Codecs and state machines without I/O. Time is handed in; nothing here opens a socket, asks a clock,
//! rolls dice, or takes memory by a length that a peer sent.

pub mod iperf3;
pub mod sockperf;
