//! A watch that goes on: what is due is measured, one after another, and told. Must not know how runs are compared, nor who
//! hears of it.

use std::{
    process, thread,
    time::{Duration, Instant},
};

use anyhow::Context;
use jiff::Timestamp;
use lab::Stop;
use samples::UnixMillis;
use units::Bytes;
use web::MetricsEndpoint;

use super::{
    Watched, alert,
    archive::Archive,
    budget::{Admission, admission},
    metrics::Metrics,
    now,
    plan::Plan,
    report::{MeasurementReport, Verdict},
    run_process::{self, GLANCE, Made},
    schedule,
};
use crate::{exit::Exit, failure, global_flags::GlobalFlags, live_view, output, source};

/// How long it waits where the store cannot be read.
const PAUSE: Duration = Duration::from_secs(10);

/// A watch under way.
pub(super) struct Session<'a> {
    plan: &'a Plan,
    watched: Vec<Watched>,
    archive: Archive,
    metrics: Metrics,
    endpoint: Option<MetricsEndpoint>,
    shared: &'a GlobalFlags,
    stop: &'a Stop,
    is_json: bool,
    /// Of the moments' jitter.
    seed: u64,
}

impl<'a> Session<'a> {
    pub(super) fn new(
        plan: &'a Plan,
        watched: Vec<Watched>,
        archive: Archive,
        endpoint: Option<MetricsEndpoint>,
        shared: &'a GlobalFlags,
        stop: &'a Stop,
        is_json: bool,
    ) -> Self {
        let seed = Timestamp::now().as_nanosecond() as u64 ^ u64::from(process::id());
        let metrics = Metrics::new(plan.budget);
        let mut session = Self { plan, watched, archive, metrics, endpoint, shared, stop, is_json, seed };
        session.take_kept_runs();
        session
    }

    /// Measures what is due, each once.
    pub(super) fn once(&mut self) -> anyhow::Result<Exit> {
        let now = now();
        let mut worst = None;
        for place in 0..self.watched.len() {
            let watched = &self.watched[place];
            if watched.measure.timing.earliest(self.archive.last(&watched.digest, now)?) > now {
                continue;
            }
            let Some(verdict) = self.measure(place)? else { return Ok(Exit::Interrupted) };
            worst = worst.max(Some(verdict));
        }
        if worst.is_none() {
            output::aside("nothing is due");
        }
        Ok(worst.map_or(Exit::Success, Verdict::exit))
    }

    /// Measures what is due whenever it is, until that moment or a request to stop.
    pub(super) fn go_on(&mut self, until: Option<Instant>) -> anyhow::Result<Exit> {
        let mut announced = None;
        while !self.is_over(until) {
            let (place, due) = match self.next() {
                Ok(next) => next,
                Err(error) => {
                    output::aside(format_args!("note: {}; it is tried again", failure::causes(&error)));
                    self.wait(UnixMillis(now().0 + PAUSE.as_millis() as i64), until);
                    continue;
                }
            };
            if due <= now() {
                if self.measure(place)?.is_none() {
                    return Ok(Exit::Interrupted);
                }
                continue;
            }
            if announced != Some((place, due)) {
                announced = Some((place, due));
                self.announce(place, due);
            }
            self.wait(due, until);
        }
        Ok(Exit::Success)
    }

    /// Which one is due first, and when.
    fn next(&self) -> anyhow::Result<(usize, UnixMillis)> {
        let now = now();
        let mut next: Option<(usize, UnixMillis)> = None;
        for (place, watched) in self.watched.iter().enumerate() {
            let kept = self.archive.last(&watched.digest, now)?;
            let last = kept.max(watched.tried.filter(|tried| *tried <= now));
            let due = watched.measure.timing.due(last, self.seed);
            if next.is_none_or(|(_, first)| due < first) {
                next = Some((place, due));
            }
        }
        next.context("the plan has no measurement")
    }

    fn is_over(&self, until: Option<Instant>) -> bool {
        self.stop.is_asked() || until.is_some_and(|until| Instant::now() >= until)
    }

    /// By the time of day, which goes on while the machine sleeps.
    fn wait(&mut self, due: UnixMillis, until: Option<Instant>) {
        let day = schedule::day_of(now());
        while !self.is_over(until) && now() < due {
            thread::sleep(GLANCE);
            if schedule::day_of(now()) != day {
                // What the day has used is nothing again.
                self.publish();
                return;
            }
        }
    }

    fn announce(&self, place: usize, due: UnixMillis) {
        let at = Timestamp::from_millisecond(due.0).map(|at| at.strftime("%Y-%m-%d %H:%M:%S").to_string());
        if let Ok(at) = at {
            output::aside(format_args!("next: {} at {at} UTC", self.watched[place].name));
        }
    }

    /// Measures one and tells what came of it; `None` where it was interrupted.
    fn measure(&mut self, place: usize) -> anyhow::Result<Option<Verdict>> {
        let at = Timestamp::now();
        let now = UnixMillis(at.as_millisecond());
        self.watched[place].tried = Some(now);
        let blank = MeasurementReport::new(at, &self.watched[place].name, self.plan.budget);
        let made = self.made(place, now, blank.clone());
        let report = match made {
            Ok(Some(report)) => report,
            Ok(None) => {
                output::aside(
                    "interrupted: finished trials are kept, and `plumb run --resume` goes on with them",
                );
                return Ok(None);
            }
            // It is tried again when it is due.
            Err(error) => blank.without_run(Verdict::Failed, failure::causes(&error)),
        };
        self.metrics.count(&self.watched[place].name, report.verdict);
        self.publish();
        let report = MeasurementReport { bytes_today: self.metrics.used, ..report };
        self.tell(&report)?;
        Ok(Some(report.verdict))
    }

    fn made(
        &mut self,
        place: usize,
        now: UnixMillis,
        blank: MeasurementReport,
    ) -> anyhow::Result<Option<MeasurementReport>> {
        let watched = &mut self.watched[place];
        // Its file may say something else by now.
        watched.digest = source::load(&watched.measure.scenario, self.shared)?.scenario.digest;
        let (digest, scenario) = (watched.digest.clone(), watched.measure.scenario.clone());
        let expected = self.archive.expected(&digest)?;
        let used = self.sent_today(now)?;
        match admission(self.plan.budget, used, expected) {
            Admission::Fits => {}
            Admission::Unknown => output::aside(format_args!(
                "note: no run of {} is kept, so what it will send is not known",
                self.watched[place].name
            )),
            Admission::LeftOut => {
                return Ok(Some(blank.without_run(Verdict::LeftOut, self.no_room(used, expected))));
            }
        }
        let is_shown = live_view::is_watched();
        if is_shown {
            output::passing(&format!("measuring {}", self.watched[place].name));
        }
        let made = run_process::measure(&scenario, self.archive.path(), self.stop);
        if is_shown {
            output::erase();
        }
        let run = match made? {
            Made::Run(run) => run,
            Made::Failed(why) => return Ok(Some(blank.without_run(Verdict::Failed, why))),
            Made::Interrupted => return Ok(None),
        };
        let watched = &self.watched[place];
        let standing = self.archive.standing(&digest, Some(&run), &watched.measure)?;
        let standing = standing.with_context(|| format!("run {run} is not kept as a complete one"))?;
        self.metrics.take(&watched.name, &standing);
        Ok(Some(blank.of_run(run, &standing)))
    }

    fn no_room(&self, used: Bytes, expected: Option<Bytes>) -> String {
        let budget = self.plan.budget.unwrap_or_default();
        let wants = match expected {
            Some(expected) => format!("it may send {expected}"),
            None => "what it sends is not known".to_owned(),
        };
        format!("{wants}, and {used} of the day's {budget} are used")
    }

    fn tell(&self, report: &MeasurementReport) -> anyhow::Result<()> {
        if self.is_json {
            output::line(serde_json::to_string(report)?)?;
        } else {
            report.lines().iter().try_for_each(|line| output::prose(line))?;
        }
        if let (Some(alert), Some(hook)) = (report.alert, &self.plan.hook)
            && let Err(error) = alert::tell(hook, alert, report)
        {
            output::aside(format_args!("warning: nobody was told: {}", failure::causes(&error)));
        }
        Ok(())
    }

    fn sent_today(&mut self, now: UnixMillis) -> anyhow::Result<Bytes> {
        let names: Vec<&str> = self.watched.iter().map(|watched| watched.name.as_str()).collect();
        self.archive.sent_today(&names, now)
    }

    /// The numbers of runs that were kept before: they need not wait for the next ones.
    fn take_kept_runs(&mut self) {
        if self.endpoint.is_none() {
            return;
        }
        for watched in &self.watched {
            // What cannot be read is told where it is needed.
            if let Ok(Some(standing)) = self.archive.standing(&watched.digest, None, &watched.measure) {
                self.metrics.take(&watched.name, &standing);
            }
        }
        self.publish();
    }

    fn publish(&mut self) {
        if let Ok(used) = self.sent_today(now()) {
            self.metrics.used = used;
        }
        if let Some(endpoint) = &self.endpoint {
            endpoint.publish(self.metrics.text());
        }
    }
}
