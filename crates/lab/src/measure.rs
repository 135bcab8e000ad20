//! Measures the traffic of trials.

use samples::{CpuUsage, DiscardedAttempt, PathCounters, ProbeResults, UnixMillis, ValidityWarning};
use scenario::{DeviceRef, Path};
use workload::Measurement;

use crate::{
    counters, cpu,
    error::RunError,
    event::{Event, Observer},
    exchange::{Exchange, Reports},
    observer::{Verdict, Watcher},
    record::now,
    trial_runner::TrialRunner,
    warnings,
};

pub(crate) const ATTEMPTS: usize = 3;

pub(crate) enum TrafficOutcome {
    Measured(Box<Measurements>),
    Never(String, Option<PathCounters>),
}

pub(crate) struct Measurements {
    pub(crate) started: UnixMillis,
    pub(crate) measurement: Measurement,
    pub(crate) cpu: CpuUsage,
    pub(crate) observed: Option<ProbeResults>,
    pub(crate) counters: PathCounters,
    pub(crate) stalled: Option<ValidityWarning>,
    pub(crate) discarded: Vec<DiscardedAttempt>,
    pub(crate) simultaneous: u32,
}

struct Attempt {
    measured: Box<Measurements>,
    verdict: Verdict,
    void: Option<ValidityWarning>,
}

impl TrialRunner<'_> {
    /// Runs all trials at the same time. If a process stalls or a probe fails in one trial, all are
    /// repeated together, because a trial on its own would measure something else.
    pub(crate) fn measure(
        &mut self,
        exchanges: &[Exchange<'_>],
        observer: &mut dyn Observer,
    ) -> Result<Vec<TrafficOutcome>, RunError> {
        self.watcher.iter_mut().for_each(Watcher::next_trial);
        let ways: Vec<&[DeviceRef]> = exchanges.iter().map(|exchange| &*exchange.path.devices).collect();
        let mut outcomes: Vec<Option<TrafficOutcome>> = exchanges.iter().map(|_| None).collect();
        let mut discarded: Vec<Vec<DiscardedAttempt>> = vec![Vec::new(); exchanges.len()];
        loop {
            let open: Vec<usize> = (0..exchanges.len()).filter(|place| outcomes[*place].is_none()).collect();
            if open.is_empty() {
                return Ok(outcomes.into_iter().flatten().collect());
            }
            let before = self.lab_handle.counters(self.agents, &ways)?;
            let attempts = match self.attempt(exchanges, (&ways, &before), observer) {
                Ok(attempts) => attempts,
                Err(error) => {
                    let failed = self.failed(exchanges, &open, error, (&ways, &before), observer)?;
                    failed.into_iter().for_each(|(place, outcome)| outcomes[place] = outcome);
                    continue;
                }
            };
            for (place, attempt) in attempts.into_iter().enumerate().filter(|(place, _)| open.contains(place))
            {
                let discarded = &mut discarded[place];
                outcomes[place] = resolve(&exchanges[place], attempt, discarded, observer);
            }
        }
    }

    /// After a refusal, runs the trials one at a time to find the one that cannot run.
    fn failed(
        &mut self,
        exchanges: &[Exchange<'_>],
        open: &[usize],
        error: RunError,
        (ways, before): (&[&[DeviceRef]], &[PathCounters]),
        observer: &mut dyn Observer,
    ) -> Result<Vec<(usize, Option<TrafficOutcome>)>, RunError> {
        let RunError::Refused { reason, unsupported, .. } = &error else { return Err(error) };
        let refusals = self.refusals(ways, before)?;
        let is_lossy = exchanges.iter().any(|exchange| exchange.is_lossy);
        if !unsupported && !is_lossy && refusals.iter().all(Option::is_none) {
            return Err(error);
        }
        if let [_] = exchanges {
            let refusal = refusals.into_iter().next().flatten();
            return Ok(vec![(0, Some(TrafficOutcome::Never(reason.clone(), refusal)))]);
        }
        let alone =
            open.iter().map(|&place| Ok((place, self.measure(&exchanges[place..=place], observer)?.pop())));
        alone.collect()
    }

    fn attempt(
        &mut self,
        exchanges: &[Exchange<'_>],
        (ways, before): (&[&[DeviceRef]], &[PathCounters]),
        observer: &mut dyn Observer,
    ) -> Result<Vec<Attempt>, RunError> {
        let started = now();
        let reports = self.exchange(exchanges, observer)?;
        let after = self.lab_handle.counters(self.agents, ways)?;
        let mut attempts = Vec::new();
        let counted = before.iter().zip(&after);
        for ((exchange, (before, after)), reports) in exchanges.iter().zip(counted).zip(reports) {
            let softnet = self.softnet(exchange.path, &reports);
            let counters = counters::between(before, after, softnet);
            let simultaneous = u32::try_from(exchanges.len() - 1).unwrap_or(u32::MAX);
            attempts.push(self.judge(exchange, reports, (started, counters, simultaneous), observer)?);
        }
        Ok(attempts)
    }

    pub(crate) fn refusals(
        &mut self,
        ways: &[&[DeviceRef]],
        before: &[PathCounters],
    ) -> Result<Vec<Option<PathCounters>>, RunError> {
        let after = self.lab_handle.counters(self.agents, ways)?;
        let counters =
            before.iter().zip(&after).map(|(before, after)| counters::between(before, after, None));
        Ok(counters.map(|counters| Some(counters).filter(PathCounters::explain_failure)).collect())
    }

    fn judge(
        &mut self,
        exchange: &Exchange<'_>,
        Reports { client, server, seen }: Reports,
        (started, counters, simultaneous): (UnixMillis, PathCounters, u32),
        observer: &mut dyn Observer,
    ) -> Result<Attempt, RunError> {
        let Exchange { path, result, .. } = *exchange;
        let verdict = self.verdict(exchange, observer);
        let (probed, host) = seen.map_or((None, None), |seen| (Some(seen.observed), seen.host));
        let observed = self.watcher_of(exchange).map(|watcher| ProbeResults {
            failed: watcher.dropped().to_vec(),
            ..probed.filter(|_| verdict == Verdict::Kept).unwrap_or_default()
        });
        let lab = self.lab_handle.lab;
        let apart = [&path.from, &path.to].map(|end| lab.has_own_kernel(&end.host));
        let guests = [&path.from, &path.to].map(|end| lab.vm(&end.host).is_some());
        let cpu = cpu::with_observed(cpu::together(&client, server.as_ref(), apart), host);
        let stalled = warnings::stalled(&result.load, [Some(&client), server.as_ref()], guests);
        let together = match server {
            Some(server) => client.measured.together(server.measured),
            None => Ok(client.measured.alone()),
        };
        let measurement =
            together.map_err(|reason| RunError::refused(&path.to.host, "report the trial", reason))?;
        let void = stalled.clone().or_else(|| warnings::void(&result.load, &measurement));
        let discarded = Vec::new();
        let measured =
            Measurements { started, measurement, cpu, observed, counters, stalled, discarded, simultaneous };
        Ok(Attempt { measured: Box::new(measured), verdict, void })
    }

    fn softnet(&self, path: &Path, reports: &Reports) -> Option<samples::SoftnetCounters> {
        let ends = [(&path.from, Some(&reports.client)), (&path.to, reports.server.as_ref())];
        let is_here = |(end, _): &(&scenario::PathEnd, _)| !self.lab_handle.lab.has_own_kernel(&end.host);
        ends.into_iter().filter(is_here).find_map(|(_, report)| report?.softnet)
    }

    fn verdict(&mut self, exchange: &Exchange<'_>, observer: &mut dyn Observer) -> Verdict {
        self.watcher_of(exchange)
            .map_or(Verdict::Kept, |watcher| watcher.judge(&exchange.result.load, observer))
    }
}

fn resolve(
    exchange: &Exchange<'_>,
    Attempt { mut measured, verdict, void }: Attempt,
    discarded: &mut Vec<DiscardedAttempt>,
    observer: &mut dyn Observer,
) -> Option<TrafficOutcome> {
    if verdict == Verdict::Again {
        return None;
    }
    let refusal = Some(&measured.counters).filter(|counters| counters.explain_failure());
    // Occasional losses and stalls are normal on a busy machine.
    let is_refused = refusal.is_some() && measured.measurement.kind().is_void();
    if is_refused || (exchange.is_lossy && void.is_some()) {
        return Some(TrafficOutcome::Never("nothing arrived".to_owned(), refusal.cloned()));
    }
    match void.filter(|_| verdict != Verdict::Over && discarded.len() + 1 < ATTEMPTS) {
        Some(reason) => {
            discarded.push(DiscardedAttempt { started: measured.started, reason });
            let again =
                format!("repeating {}: a process was stalled for part of the trial", exchange.result.id);
            observer.event(&Event::Notice(&again));
            None
        }
        None => {
            measured.discarded.append(discarded);
            Some(TrafficOutcome::Measured(measured))
        }
    }
}
