//! Tests of iperf3's protocol with captures of iperf3 3.12 in arbitrary chunks, and with garbage.

mod auth;
mod capture;
mod garbage;
mod machines;
mod output;
