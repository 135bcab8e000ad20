//! Prints how long a CPU quota throttled a workload during the run.

use ::scenario::HostName;
use lab::Attachments;
use machine::{Attached, QuotaCounters, Throttling};

use super::ends::End;
use crate::output;

pub(super) struct Limits {
    host: HostName,
    endpoint: String,
    before: QuotaCounters,
}

impl Limits {
    /// Reads the counters at the start of the run. Returns `None` for `local`.
    pub(super) fn of(end: &End, attachments: &Attachments) -> Option<Self> {
        let host = HostName::new(&end.host);
        let before = attachments.endpoints.get(&host)?.throttled()?;
        Some(Self { host, endpoint: end.text.clone(), before })
    }

    pub(super) fn print(&self, attachments: &Attachments) -> anyhow::Result<()> {
        let Self { endpoint, .. } = self;
        let after = attachments.endpoints.get(&self.host).and_then(Attached::throttled);
        let throttled = after.and_then(|after| after.since(&self.before));
        if let Some(Throttling { group, time, .. }) = throttled {
            output::prose(&format!(
                "{endpoint} was throttled for {:.1} s during the run, summed over all CPUs, because {} had used up its CPU quota.",
                time.as_secs_f64(),
                group.display()
            ))?;
        }
        Ok(())
    }
}
