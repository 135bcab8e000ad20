//! iperf3's logs, 3.0 to 3.2x, as both ends print them: text, JSON, and a stream of JSON events.
//!
//! Learnt from <https://github.com/esnet/iperf> (src/iperf_locale.c, iperf_api.c, units.c) and from what the
//! programs print; see tests/data. Must not know which logs belong together.

mod agreement;
mod bytes;
mod command;
mod cpu;
mod json;
mod log;
mod messages;
mod row;
mod test;
mod text;
mod time;

pub(crate) use json::Json;
pub(crate) use text::Text;
