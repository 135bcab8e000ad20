//! Follows runs: the live state of one run, and measurements that are repeated on a schedule.

mod live;

pub use live::{Boot, Current, Left, LiveRun, Message, State, Tone, cpu_time, mark, one_line};
