//! When a sender has done its part, and when the record of a receiver ends.

use units::{Bytes, Nanos};
use workload::{StreamSettings, Until};

use super::{
    GRACE,
    flow::Flow,
    interval_sampler::{IntervalSampler, Sampled},
};
use crate::error::{Error, Result};

/// Bytes that a sender may send beyond its share, which it fills up to a whole message.
const EXCESS: u64 = 64 << 20;

/// When a sender has done its part.
pub(super) enum Goal {
    /// Not before `end` by the clock, and having measured for `time`.
    Elapsed { end: u64, time: Nanos },
    /// Having sent so many bytes.
    Sent(u64),
}

impl Goal {
    /// Of a flow that began at `begun`.
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

    /// What is left to send.
    #[inline]
    pub(super) fn left<S: Sampled>(&self, sampler: &IntervalSampler<'_, S>) -> u64 {
        match self {
            Self::Elapsed { .. } => u64::MAX,
            Self::Sent(share) => share.saturating_sub(sampler.total()),
        }
    }

    /// No sleep is longer than until then.
    pub(super) fn wake<S: Sampled>(&self, sampler: &IntervalSampler<'_, S>) -> u64 {
        match self {
            Self::Elapsed { end, time } => {
                sampler.measured_until(*time).map_or(*end, |until| until.max(*end))
            }
            Self::Sent(_) => u64::MAX,
        }
    }
}

/// When the record of a receiver ends that began at `begun`, got the last bytes at `latest` and found at `found`
/// that its stream was over: with the last bytes. Silence after them counts as well, since a sender that stalls
/// is measured too, but only within the time that was asked: what the end of a stream, or the word of it, took
/// to get here is none of the stream's time.
pub(super) fn end_of_record(load: &StreamSettings, begun: u64, latest: u64, found: u64) -> u64 {
    let asked = match load.until {
        Until::Elapsed(time) => begun + (load.warmup + time).0,
        Until::Sent(_) => latest,
    };
    latest.max(found.min(asked))
}

/// Until when a receiver whose sender ends in time is patient, and how it fails then.
pub(super) struct Patience(Option<u64>);

impl Patience {
    /// Of a flow that began at `begun`.
    pub(super) fn of(flow: &Flow<'_>, begun: u64) -> Self {
        match flow.load.until {
            Until::Elapsed(time) => Self(Some(begun + (flow.load.warmup + time + GRACE).0)),
            Until::Sent(_) => Self(None),
        }
    }

    /// Whether the time that was asked for is over.
    pub(super) fn has_lasted(&self, now: u64) -> bool {
        self.0.is_some_and(|limit| now + GRACE.0 >= limit)
    }

    /// Whether the end of a stream that flowed until its time was over was lost, as a lossy path may lose the last
    /// segments and the reset of a sender that gave up. One that stalled for long within its time is none such.
    pub(super) fn has_lost_its_end<S: Sampled>(&self, sampler: &IntervalSampler<'_, S>, now: u64) -> bool {
        let Some(limit) = self.0 else { return false };
        let flowed = sampler.total() > 0 && sampler.latest() + 2 * GRACE.0 >= limit;
        now >= limit && flowed && !sampler.is_moving(now)
    }

    /// To be asked when nothing has come for a while.
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
        // One that still sends has lost its end, not its voice: that is for `check_ends` to say.
        if now < limit || sampler.is_moving(now) {
            return Ok(());
        }
        let missing = "the end of the stream".into();
        Err(Error::Silent { object: flow.name.clone(), missing, waited: GRACE })
    }

    /// To be asked when something has come: a sender that does not end is not heard for ever. It gives up itself what
    /// is not taken in time.
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
        // It begins at 1,000 ms.
        let load = StreamSettings { warmup: Nanos::from_millis(100), ..StreamSettings::new(until) };
        let end = end_of_record(&load, 1000 * MS, (1000 + latest) * MS, (1000 + found) * MS);
        assert_eq!(end, (1000 + expected) * MS, "{until:?}: the last came at {latest}, over at {found}");
    }

    #[test]
    fn a_receivers_record_ends_with_the_last_that_came_however_late_the_end_is_found() {
        let asked = Until::Elapsed(Nanos::from_millis(400));
        // Run-down, patience or a closing word that had to be said again.
        check(asked, 500, 815, 500);
        check(asked, 499, 560, 500);
        // The sender was kept waiting and sent for longer.
        check(asked, 730, 730, 730);
        check(asked, 730, 900, 730);
        check(Until::Sent(Bytes(9)), 730, 900, 730);
    }

    #[test]
    fn a_stall_at_the_end_counts_within_the_time_that_was_asked() {
        let asked = Until::Elapsed(Nanos::from_millis(400));
        check(asked, 200, 900, 500);
        check(asked, 200, 350, 350);
        check(asked, 0, 900, 500);
    }
}
