//! Cost of counting calls with ptrace. Compares the target's progress in a traced slice with its progress in the
//! untraced pause that follows.

use findings::{Interval, PtraceCost, TracedPace};
use samples::{PtraceSlice, PtraceSlices};

/// Minimum number of reads and writes in a pause.
const FEW: u64 = 20;
const CONFIDENCE: f64 = 0.95;

pub(super) fn of(ptrace: &PtraceSlices) -> PtraceCost {
    let pairs: Vec<(&PtraceSlice, &PtraceSlice)> = ptrace
        .slices
        .windows(2)
        .filter_map(|two| match two {
            [slice, rest] if slice.counting && !rest.counting => Some((rest, slice)),
            _ => None,
        })
        .collect();
    let rate = |amount: u64, slice: &PtraceSlice| amount as f64 / slice.elapsed.seconds().max(1e-9);
    let io_calls = |slice: &PtraceSlice| rate(slice.io_calls, slice);
    let cpu = |slice: &PtraceSlice| rate(slice.cpu.0, slice);
    let moving = pairs.iter().filter(|(rest, _)| rest.io_calls >= FEW);
    PtraceCost {
        counted: ptrace.counted,
        pairs: pairs.len() as u32,
        pace: pace(&moving.map(|(rest, slice)| (io_calls(rest), io_calls(slice))).collect::<Vec<_>>()),
        cpu: pace(&pairs.iter().map(|(rest, slice)| (cpu(rest), cpu(slice))).collect::<Vec<_>>()),
        stopped: ptrace.stopped.0 as f64 / ptrace.counted.0.max(1) as f64,
    }
}

/// Each pair has the progress in a pause and in the slice before it. The ratio is unknown if any value is zero.
fn pace(pairs: &[(f64, f64)]) -> Option<TracedPace> {
    let estimate = stats::ratio::paired_ratio(pairs, CONFIDENCE)?;
    let interval =
        estimate.interval.map(|it| Interval { low: it.low, high: it.high, confidence: it.confidence });
    Some(TracedPace { ratio: estimate.value, interval })
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::*;

    fn slice(counting: bool, millis: u64, io_calls: u64) -> PtraceSlice {
        let elapsed = Nanos::from_millis(millis);
        PtraceSlice { counting, elapsed, cpu: Nanos::from_millis(millis / 2), io_calls }
    }

    #[test]
    fn compares_slice_with_the_following_pause() {
        let two = [slice(true, 400, 400), slice(false, 200, 2000)];
        let slices = [two, two, two].concat();
        let ptrace =
            PtraceSlices { counted: Nanos::from_millis(1200), stopped: Nanos::from_millis(600), slices };
        let summary = of(&ptrace);
        assert_eq!((summary.pairs, summary.stopped), (3, 0.5));
        let pace = summary.pace.expect("it moved");
        assert!((pace.ratio - 0.1).abs() < 1e-9 && pace.interval.is_some(), "{pace:?}");
        assert!(summary.cpu.is_some_and(|cpu| (cpu.ratio - 1.0).abs() < 1e-9), "{:?}", summary.cpu);
    }

    #[test]
    fn pace_is_unknown_without_pauses_or_reads() {
        for slices in [
            vec![],
            vec![slice(true, 400, 400)],
            vec![slice(false, 200, 400), slice(true, 400, 400)],
            vec![slice(true, 400, 2), slice(false, 200, 3)],
        ] {
            let summary = of(&PtraceSlices { slices: slices.clone(), ..PtraceSlices::default() });
            assert_eq!(summary.pace, None, "{slices:?}");
        }
    }
}
