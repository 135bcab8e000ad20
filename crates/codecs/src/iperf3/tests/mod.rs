//! Tests the protocol with captures of iperf3 3.12 split into arbitrary chunks, and with invalid data.

mod auth;
mod capture;
mod garbage;
mod machines;
mod output;
