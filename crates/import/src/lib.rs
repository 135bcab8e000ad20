//! Imports logs and tables of other tools as trials, without loading whole files. Each format has its own file.
//!
//! Values missing from a log remain unknown. Unreadable input results in a note with line numbers, never in a number.

mod assemble;
mod balloon;
mod calls;
mod cells;
mod document;
mod end_pair;
mod error;
mod flent;
mod format;
mod gzip;
mod imported_test;
mod iperf3;
mod lines;
mod loops;
mod markdown;
mod netperf;
mod options;
mod outline;
mod parts;
mod perf_trace;
mod places;
mod prefix;
mod quantity;
mod rate_basis;
mod read;
mod round_trips;
mod series;
mod shell;
mod sockperf;
mod statistic;
mod strace;
mod title;
mod unit;
mod unread;

pub use assemble::{Assembler, Assembly, Done, Meta, TooManyResults};
pub use error::ImportError;
pub use format::KNOWN;
pub use imported_test::{End, Evidence, ImportedTest, Part};
pub use options::Options;
pub use read::{FileReport, read};
