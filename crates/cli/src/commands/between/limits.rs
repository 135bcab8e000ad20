//! Prints the CPU limit of a workload, and for how long its cgroup was throttled during the run.

use ::scenario::HostName;
use lab::Attachments;
use machine::{Attached, CpuLimit, Throttled, Throttling};

use super::ends::End;
use crate::output;

pub(super) struct Limits {
    host: HostName,
    endpoint: String,
    limit: Option<CpuLimit>,
    before: Option<Throttled>,
}

impl Limits {
    /// Call this when the run begins. Returns `None` for `local`.
    pub(super) fn of(end: &End, attachments: &Attachments) -> Option<Self> {
        let host = HostName::new(&end.host);
        let attached = attachments.endpoints.get(&host)?;
        let (limit, before) = (attached.cpu_limit(), attached.throttled());
        Some(Self { host, endpoint: end.text.clone(), limit, before })
    }

    pub(super) fn print(&self, attachments: &Attachments) -> anyhow::Result<()> {
        let Self { endpoint, .. } = self;
        if let Some(CpuLimit { cpus, source }) = &self.limit {
            let relation = if attachments.as_workload {
                "The measurement shared this limit."
            } else {
                "The measurement ran outside this limit, so the workload itself may be slower."
            };
            output::prose(&format!(
                "{endpoint} may use {} CPUs ({source}). {relation}",
                (cpus * 100.0).round() / 100.0
            ))?;
        }
        let after = attachments.endpoints.get(&self.host).and_then(Attached::throttled);
        let throttled = after.zip(self.before.as_ref()).and_then(|(after, before)| after.since(before));
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
