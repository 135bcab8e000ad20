//! Other activity on the machine during a measurement.
//!
//! Each process is charged for its own CPU time and for its reaped children's. Kernel threads are excluded because
//! they work for the contenders.

use std::{fmt, fs, ops::AddAssign, time::Instant};

use crate::cpu::{CpuTimes, TICKS_PER_SECOND};

/// The lowest CPU use to report: half of what would shift a ratio on two CPUs by 5 %.
const NOTABLE: f64 = 0.05;

pub(crate) struct Moment {
    at: Instant,
    ticks: u64,
    stolen: f64,
}

impl Moment {
    /// Call this while the process has no children.
    pub(crate) fn now() -> Self {
        let stolen = CpuTimes::read().map_or(0.0, |times| times.stolen);
        Self { at: Instant::now(), ticks: other_ticks(), stolen }
    }

    pub(crate) fn others(&self) -> Others {
        let now = Self::now();
        Others {
            seconds: now.at.duration_since(self.at).as_secs_f64(),
            busy: now.ticks.saturating_sub(self.ticks) as f64 / TICKS_PER_SECOND,
            stolen: now.stolen - self.stolen,
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Others {
    seconds: f64,
    busy: f64,
    stolen: f64,
}

impl Others {
    pub(crate) fn busy(&self) -> f64 {
        self.of_a_cpu(self.busy)
    }

    pub(crate) fn stolen(&self) -> f64 {
        self.of_a_cpu(self.stolen)
    }

    pub(crate) fn were_quiet(&self) -> bool {
        self.busy() < NOTABLE && self.stolen() < NOTABLE
    }

    fn of_a_cpu(&self, time: f64) -> f64 {
        if self.seconds > 0.0 { time / self.seconds } else { 0.0 }
    }
}

impl AddAssign for Others {
    fn add_assign(&mut self, more: Self) {
        self.seconds += more.seconds;
        self.busy += more.busy;
        self.stolen += more.stolen;
    }
}

impl fmt::Display for Others {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |part: f64| format!("{:.0} % of a CPU", part * 100.0);
        let others = (self.busy() >= NOTABLE).then(|| format!("other work took {}", percent(self.busy())));
        let host = (self.stolen() >= NOTABLE).then(|| format!("the host took {}", percent(self.stolen())));
        let words: Vec<String> = others.into_iter().chain(host).collect();
        if words.is_empty() { f.write_str("quiet") } else { write!(f, "noisy: {}", words.join(", ")) }
    }
}

fn other_ticks() -> u64 {
    let Ok(processes) = fs::read_dir("/proc") else { return 0 };
    let numbers = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let others = numbers.filter(|pid| *pid != std::process::id());
    others.filter_map(|pid| ticks(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)).sum()
}

/// Returns the CPU time of a process, including its reaped children, or `None` for kernel threads (children of
/// PID 2). Fields are counted from the last parenthesis, because the name may contain any character.
fn ticks(stat: &str) -> Option<u64> {
    let fields: Vec<&str> = stat[stat.rfind(')')? + 1..].split_whitespace().collect();
    let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
    let own_and_reaped = number(11)? + number(12)? + number(13)? + number(14)?;
    (number(1)? != 2 && stat.split(' ').next() != Some("2")).then_some(own_and_reaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_include_reaped_children() {
        let stat = |pid: u32, name: &str, parent: u32| {
            format!("{pid} ({name}) S {parent} 1 1 0 -1 4 1 2 3 4 10 20 300 4000 20 0")
        };
        assert_eq!(ticks(&stat(77, "a) b (c", 1)), Some(4330));
        assert_eq!(ticks(&stat(77, "kworker", 2)), None);
        assert_eq!(ticks(&stat(2, "kthreadd", 0)), None);
        assert_eq!(ticks("77 (sh"), None);
    }

    #[test]
    fn reports_other_activity_above_a_threshold() {
        let others = |busy, stolen| Others { seconds: 10.0, busy, stolen };
        assert_eq!(others(0.4, 0.4).to_string(), "quiet");
        assert_eq!(others(3.0, 0.0).to_string(), "noisy: other work took 30 % of a CPU");
        assert_eq!(others(0.0, 1.0).to_string(), "noisy: the host took 10 % of a CPU");
        let mut sum = others(1.0, 0.0);
        sum += others(2.0, 0.0);
        assert!((sum.busy() - 0.15).abs() < 1e-12 && !sum.were_quiet());
    }
}
