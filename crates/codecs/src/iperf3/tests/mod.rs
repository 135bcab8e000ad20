//! iperf3's protocol against captures of iperf3 3.12, cut in any way, and against garbage.

mod auth;
mod capture;
mod garbage;
mod machines;
mod output;
