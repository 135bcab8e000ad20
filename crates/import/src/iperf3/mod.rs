//! Reads both ends' logs of iperf3 3.0 to 3.2x: text, JSON and JSON event streams.
//!
//! Based on <https://github.com/esnet/iperf> (src/iperf_locale.c, iperf_api.c, units.c) and the logs in tests/data.

mod agreement;
mod bracket;
mod bytes;
mod command;
mod cpu;
mod figure;
mod json;
mod log;
mod messages;
mod row;
mod test;
mod text;
mod time;

pub(crate) use json::Json;
pub(crate) use text::Text;
