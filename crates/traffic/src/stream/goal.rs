//! When a sender has done its part.

use load::Until;
use units::Nanos;

use super::{
    GRACE,
    flow::Flow,
    pulse::{Pulse, Sampled},
};
use crate::error::{Error, Result};

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
    pub(super) fn is_reached<S: Sampled>(&self, pulse: &Pulse<'_, S>, now: u64) -> bool {
        match self {
            Self::Elapsed { end, time } => now >= *end && pulse.has_measured(*time, now),
            Self::Sent(share) => pulse.total() >= *share,
        }
    }

    /// What is left to send.
    #[inline]
    pub(super) fn left<S: Sampled>(&self, pulse: &Pulse<'_, S>) -> u64 {
        match self {
            Self::Elapsed { .. } => u64::MAX,
            Self::Sent(share) => share.saturating_sub(pulse.total()),
        }
    }

    /// No sleep is longer than until then.
    pub(super) fn wake<S: Sampled>(&self, pulse: &Pulse<'_, S>) -> u64 {
        match self {
            Self::Elapsed { end, time } => pulse.measured_until(*time).map_or(*end, |until| until.max(*end)),
            Self::Sent(_) => u64::MAX,
        }
    }
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

    /// To be asked when nothing has come for a while.
    pub(super) fn check<S: Sampled>(&self, flow: &Flow<'_>, pulse: &Pulse<'_, S>, now: u64) -> Result<()> {
        if flow.is_ended_from_outside() {
            return Ok(());
        }
        let Some(limit) = self.0 else { return pulse.check_moving(now) };
        if now < limit {
            return Ok(());
        }
        let missing = "the end of the stream".into();
        Err(Error::Silent { object: flow.name.clone(), missing, waited: GRACE })
    }
}
