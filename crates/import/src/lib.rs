//! Other tools' logs and tables to trials, streaming; one file a format.
//!
//! Text in, values out: it opens no file and does not know where trials are kept. What a log does not tell stays
//! unknown, and what could not be read becomes a note with its lines, never a number.

mod assemble;
mod balloon;
mod calls;
mod cells;
mod document;
mod end_pair;
mod error;
pub mod exercise;
mod flent;
mod format;
mod gzip;
mod imported_test;
mod iperf3;
mod lines;
mod markdown;
mod netperf;
mod options;
mod outline;
mod perf_trace;
mod places;
mod prefix;
mod quantity;
mod rate_basis;
mod read;
mod round_trips;
mod series;
mod sockperf;
mod statistic;
mod strace;
mod title;
mod unit;
mod unread;

pub use assemble::{Assembler, Assembly, Done, Meta, TooManyCells};
pub use error::ImportError;
pub use format::KNOWN;
pub use imported_test::{End, ImportedTest};
pub use options::Options;
pub use read::{FileReport, read};
