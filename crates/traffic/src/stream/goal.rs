//! Decides when a sender has finished and when a receiver's measurement ends.

use units::{Bytes, Nanos};
use workload::{StreamSettings, Until};

use super::{
    GRACE,
    flow::Flow,
    interval_sampler::{IntervalSampler, Sampled},
};
use crate::error::{Error, Result};

/// Tolerated bytes beyond the goal, since a sender always completes its last message.
const EXCESS: u64 = 64 << 20;

/// A goal of `Elapsed` is reached at `end` or after measuring for `time`, whichever is later.
pub(super) enum Goal {
    Elapsed { end: u64, time: Nanos },
    Sent(u64),
}

impl Goal {
    pub(super) fn of(flow: &Flow<'_>, begun: u64) -> Self {
        match (flow.share, flow.load.until) {
            (Some(share), _) => Self::Sent(share),
            (None, Until::Elapsed(time)) => Self::Elapsed { end: begun + (flow.load.warmup + time).0, time },
            (None, Until::Sent(bytes)) => Self::Sent(bytes.0),
        }
    }

    #[inline]
    pub(super) fn is_reached<S: Sampled>(&self, sampler: &IntervalSampler<'_, S>, now: u64) -> bool {
        match self {
            Self::Elapsed { end, time } => now >= *end && sampler.has_measured(*time, now),
            Self::Sent(share) => sampler.total() >= *share,
        }
    }

    #[inline]
    pub(super) fn left<S: Sampled>(&self, sampler: &IntervalSampler<'_, S>) -> u64 {
        match self {
            Self::Elapsed { .. } => u64::MAX,
            Self::Sent(share) => share.saturating_sub(sampler.total()),
        }
    }

    pub(super) fn wake<S: Sampled>(&self, sampler: &IntervalSampler<'_, S>) -> u64 {
        match self {
            Self::Elapsed { end, time } => {
                sampler.measured_until(*time).map_or(*end, |until| until.max(*end))
            }
            Self::Sent(_) => u64::MAX,
        }
    }
}

/// Returns the end of the measurement. Includes silence after the last bytes (`latest`) up to the requested time,
/// because the sender may have stalled, but not the delay until the end of the stream was detected (`found`).
pub(super) fn end_of_record(load: &StreamSettings, begun: u64, latest: u64, found: u64) -> u64 {
    let requested = match load.until {
        Until::Elapsed(time) => begun + (load.warmup + time).0,
        Until::Sent(_) => latest,
    };
    latest.max(found.min(requested))
}

pub(super) struct Patience(Option<u64>);

impl Patience {
    pub(super) fn of(flow: &Flow<'_>, begun: u64) -> Self {
        match flow.load.until {
            Until::Elapsed(time) => Self(Some(begun + (flow.load.warmup + time + GRACE).0)),
            Until::Sent(_) => Self(None),
        }
    }

    pub(super) fn has_lasted(&self, now: u64) -> bool {
        self.0.is_some_and(|limit| now + GRACE.0 >= limit)
    }

    /// Returns whether the end of the stream was lost, e.g. the last segments and the reset from a sender that gave
    /// up. Excludes streams that stalled for long during the test.
    pub(super) fn has_lost_its_end<S: Sampled>(&self, sampler: &IntervalSampler<'_, S>, now: u64) -> bool {
        let Some(limit) = self.0 else { return false };
        let flowed = sampler.total() > 0 && sampler.latest() + 2 * GRACE.0 >= limit;
        now >= limit && flowed && !sampler.is_moving(now)
    }

    pub(super) fn check<S: Sampled>(
        &self,
        flow: &Flow<'_>,
        sampler: &IntervalSampler<'_, S>,
        now: u64,
    ) -> Result<()> {
        if flow.is_ended_from_outside() {
            return Ok(());
        }
        let Some(limit) = self.0 else { return sampler.check_moving(now) };
        if now < limit || sampler.is_moving(now) {
            return Ok(());
        }
        let missing = "the end of the stream".into();
        Err(Error::Silent { object: flow.name.clone(), missing, waited: GRACE })
    }

    /// Limits how long a receiver waits for a sender that does not end.
    #[inline]
    pub(super) fn check_ends<S: Sampled>(
        &self,
        flow: &Flow<'_>,
        sampler: &IntervalSampler<'_, S>,
        now: u64,
    ) -> Result<()> {
        let goes_on = match (self.0, flow.share) {
            (Some(limit), _) => now >= limit + GRACE.0,
            (None, Some(share)) => sampler.total().saturating_sub(share) > EXCESS,
            (None, None) => false,
        };
        if !goes_on || flow.is_ended_from_outside() {
            return Ok(());
        }
        Err(Error::Endless { object: flow.name.clone(), got: Bytes(sampler.total()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn check(until: Until, latest: u64, found: u64, expected: u64) {
        let load = StreamSettings { warmup: Nanos::from_millis(100), ..StreamSettings::new(until) };
        let end = end_of_record(&load, 1000 * MS, (1000 + latest) * MS, (1000 + found) * MS);
        assert_eq!(end, (1000 + expected) * MS, "{until:?}: last data at {latest}, end found at {found}");
    }

    #[test]
    fn measurement_ends_with_last_data_however_late_the_end_is_found() {
        let requested = Until::Elapsed(Nanos::from_millis(400));
        check(requested, 500, 815, 500);
        check(requested, 499, 560, 500);
        check(requested, 730, 730, 730);
        check(requested, 730, 900, 730);
        check(Until::Sent(Bytes(9)), 730, 900, 730);
    }

    #[test]
    fn stall_at_the_end_counts_within_the_requested_time() {
        let requested = Until::Elapsed(Nanos::from_millis(400));
        check(requested, 200, 900, 500);
        check(requested, 200, 350, 350);
        check(requested, 0, 900, 500);
    }
}
