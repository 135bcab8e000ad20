//! The first-touch workload. Each thread repeatedly maps its part of the memory, writes to every page and unmaps it.

use samples::{ThreadCpu, ThreadRole};
use sys::{
    anonymous_memory::{self, AnonymousMemory, HUGE_PAGE, PageFaults},
    clock::monotonic,
};
use units::{Bytes, Nanos};
use workload::{FirstTouchData, FirstTouchInterval, FirstTouchSettings};

use crate::{
    error::{Error, Result},
    observer::Observer,
    outcome::Outcome,
    spec::ClientSpec,
    stop::Stop,
    workers::{self, CpuMeter, Job, SharedState, cpu_of},
};

const END: &str = "client";
const STEP: usize = HUGE_PAGE;

pub(super) fn run(
    spec: &ClientSpec<FirstTouchSettings>,
    stop: &Stop,
    observer: &dyn Observer,
) -> Result<Outcome<FirstTouchData>> {
    let share = check(&spec.load)?;
    let times = Times::new(&spec.load, monotonic());
    let shared = &SharedState::new(stop);
    let job = |thread: u32| {
        let cpu = cpu_of(spec.cpus.as_deref(), thread as usize);
        let huge = spec.load.huge_pages;
        Job {
            name: format!("memory of thread {thread}"),
            thread: format!("touch {thread}"),
            work: Box::new(move || touch(share, huge, times, cpu, shared)) as _,
        }
    };
    let parts = workers::run((0..spec.load.threads).map(job).collect(), shared, observer)?;
    Ok(outcome(parts, times, monotonic()))
}

fn check(load: &FirstTouchSettings) -> Result<usize> {
    let setting = |setting, value: String, allowed| Err(Error::Setting { setting, value, allowed });
    if !(1..=1024).contains(&load.threads) {
        return setting("the number of threads", load.threads.to_string(), "1 to 1024");
    }
    let share = load.memory.0 / u64::from(load.threads);
    if share < STEP as u64 {
        return setting("the memory of a thread", Bytes(share).to_string(), "2 MiB or more");
    }
    if let Some(free) = anonymous_memory::available().map(Bytes).filter(|free| load.memory > *free) {
        let value = format!("{} with {free} available", load.memory);
        return setting("the memory to touch", value, "less");
    }
    if load.duration == Nanos(0) {
        return setting("the duration", "0".into(), "a longer one");
    }
    if load.interval < Nanos::from_millis(1) {
        return setting("the interval", load.interval.to_string(), "1 ms or longer");
    }
    usize::try_from(share).map_or_else(|_| setting("the memory", load.memory.to_string(), "less"), Ok)
}

#[derive(Debug, Clone, Copy)]
struct Times {
    begin: u64,
    warm: u64,
    end: u64,
    interval: u64,
}

impl Times {
    fn new(load: &FirstTouchSettings, begin: u64) -> Self {
        let warm = begin + load.warmup.0;
        Self { begin, warm, end: warm + load.duration.0, interval: load.interval.0 }
    }

    /// Splits the measurement into intervals. The end of the warm-up is a boundary, so the last interval on
    /// either side may be shorter.
    fn intervals(self) -> Vec<FirstTouchInterval> {
        let part = |from: u64, to: u64, warmup: bool| {
            let starts = (from..to).step_by(usize::try_from(self.interval).unwrap_or(usize::MAX));
            starts.map(move |start| FirstTouchInterval {
                start: Nanos(start - self.begin),
                end: Nanos((start + self.interval).min(to) - self.begin),
                warmup,
                ..FirstTouchInterval::default()
            })
        };
        part(self.begin, self.warm, true).chain(part(self.warm, self.end, false)).collect()
    }
}

struct Part {
    thread: ThreadCpu,
    intervals: Vec<FirstTouchInterval>,
    faults: PageFaults,
}

fn touch(share: usize, huge: bool, times: Times, cpu: Option<u32>, shared: &SharedState<'_>) -> Result<Part> {
    if let Some(cpu) = cpu {
        sys::affinity::pin_thread(&[cpu])?;
    }
    let mut intervals = times.intervals();
    let (mut place, mut warm_faults) = (0, None);
    shared.wait_for_start()?;
    let spent = CpuMeter::from_now();
    'time: loop {
        let mut memory = AnonymousMemory::map(share, huge)?;
        let mut begun = monotonic();
        for from in (0..share).step_by(STEP) {
            if begun >= times.end || shared.ends_early() {
                break 'time;
            }
            shared.check()?;
            if begun >= times.warm && warm_faults.is_none() {
                warm_faults = Some(PageFaults::of_this_thread()?);
                begun = monotonic();
            }
            memory.touch(from, from + STEP);
            let ended = monotonic();
            let touched = STEP.min(share - from) as u64;
            let since = Nanos(begun - times.begin);
            while place + 1 < intervals.len() && intervals[place].end <= since {
                place += 1;
            }
            let interval = &mut intervals[place];
            interval.touched = interval.touched + Bytes(touched);
            interval.touching = interval.touching + Nanos(ended - begun);
            shared.add_received(touched);
            begun = ended;
        }
    }
    let faults = PageFaults::of_this_thread()?;
    let faults = faults.since(warm_faults.unwrap_or(faults));
    Ok(Part { thread: spent.until_now(END, ThreadRole::Alone), intervals, faults })
}

fn outcome(parts: Vec<Part>, times: Times, ended: u64) -> Outcome<FirstTouchData> {
    let threads = parts.len().max(1) as u64;
    let mut intervals = times.intervals();
    let mut data = FirstTouchData::default();
    for part in &parts {
        for (sum, own) in intervals.iter_mut().zip(&part.intervals) {
            sum.touched = sum.touched + own.touched;
            sum.touching = sum.touching + own.touching;
        }
        data.minor_faults += part.faults.minor;
        data.major_faults += part.faults.major;
    }
    for interval in &mut intervals {
        interval.touching = Nanos(interval.touching.0 / threads);
    }
    intervals.retain(|interval| interval.start.0 < ended - times.begin);
    let measured = || intervals.iter().filter(|interval| !interval.warmup);
    data.touched = measured().map(|interval| interval.touched).sum();
    data.touching = measured().map(|interval| interval.touching).sum();
    data.elapsed = Nanos(ended.saturating_sub(times.warm));
    data.intervals = intervals;
    Outcome { measured: data, threads: parts.into_iter().map(|part| part.thread).collect() }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, SocketAddr};

    use super::*;

    const MIB: u64 = 1 << 20;

    fn outcome_of(load: FirstTouchSettings) -> Result<Outcome<FirstTouchData>> {
        let nowhere = IpAddr::from([127, 0, 0, 1]);
        let server = SocketAddr::new(nowhere, 0);
        run(&ClientSpec { token: 1, bind: nowhere, server, load, cpus: None }, &Stop::new(), &())
    }

    fn load(threads: u32, memory: u64) -> FirstTouchSettings {
        FirstTouchSettings {
            memory: Bytes(memory),
            threads,
            warmup: Nanos::from_millis(30),
            interval: Nanos::from_millis(20),
            ..FirstTouchSettings::new(Nanos::from_millis(90))
        }
    }

    #[test]
    fn each_small_page_causes_one_fault_and_intervals_add_up() {
        for threads in [1, 3] {
            let mut outcomes = (0..20).map(|_| outcome_of(load(threads, 24 * MIB)).expect("it runs"));
            let Outcome { measured: data, threads: cpu } =
                outcomes.find(|outcome| outcome.measured.touched.0 > 0).expect("one run touches memory");
            assert_eq!(cpu.len(), threads as usize);
            let pages = data.touched.0 / anonymous_memory::PAGE as u64;
            let faults = data.minor_faults + data.major_faults;
            assert!((pages..pages + pages / 100 + 64).contains(&faults), "{faults} faults for {pages} pages");
            let measured = || data.intervals.iter().filter(|interval| !interval.warmup);
            assert_eq!(measured().map(|interval| interval.touched).sum::<Bytes>(), data.touched);
            let ends: Vec<u64> = data.intervals.iter().map(|interval| interval.end.0 / 1_000_000).collect();
            assert_eq!(ends, [20, 30, 50, 70, 90, 110, 120]);
            assert!(data.rate().is_some_and(|rate| rate > 0.0) && data.touching <= data.elapsed, "{data:?}");
        }
    }

    #[test]
    fn rejects_invalid_settings_and_names_valid_ones() {
        let good = load(1, 24 * MIB);
        for (load, allowed) in [
            (FirstTouchSettings { threads: 0, ..good.clone() }, "1 to 1024"),
            (FirstTouchSettings { threads: 1025, ..good.clone() }, "1 to 1024"),
            (FirstTouchSettings { threads: 13, ..good.clone() }, "2 MiB or more"),
            (FirstTouchSettings { memory: Bytes(1 << 50), ..good.clone() }, "available; use less"),
            (FirstTouchSettings { duration: Nanos(0), ..good.clone() }, "longer"),
            (FirstTouchSettings { interval: Nanos(0), ..good }, "1 ms"),
        ] {
            let error = outcome_of(load.clone()).expect_err("refused").to_string();
            assert!(error.contains(allowed), "{load:?}: {error}");
        }
    }
}
