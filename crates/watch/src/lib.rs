//! Keeps the live state of a run, and repeats measurements on a schedule.

mod archive;
mod budget;
mod causes;
mod live;
mod measure;
mod metrics;
mod report;
mod schedule;
mod session;
mod state;

pub use archive::{Archive, StoredRun};
pub use budget::{Admission, admission};
pub use causes::causes;
pub use live::{Boot, Current, Left, LiveRun, Message, State, Tone, cpu_time, mark, one_line};
pub use measure::{Against, FARTHEST, Measure, Watched};
pub use metrics::{Latest, Metrics};
pub use report::{MeasurementReport, Verdict};
pub use schedule::{DAY, TimeOfDay, Timing, day_of};
pub use session::{Host, RunEnd, Session, WatchEnd, now};
pub use state::{Alert, WatchState};
