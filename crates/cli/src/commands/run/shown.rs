//! Shows a run's progress: in the live view on a terminal, otherwise as plain lines.

use lab::{Event, Stop};
use units::Nanos;

use super::{counted, job::Job};
use crate::{
    live_view::{self, LiveView},
    progress::Progress,
};

pub(super) enum Shown {
    Plain(Progress),
    Live(Box<LiveView>),
}

impl Shown {
    pub(super) fn of(job: &Job, is_plain: bool, keeps_disturbed: bool, stop: &Stop) -> Self {
        if !is_plain && live_view::is_possible() {
            let (scenario, resume) = (&job.source.scenario, job.resume.as_ref());
            if let Ok(view) = LiveView::start(scenario, &job.plan, resume, keeps_disturbed, stop) {
                return Self::Live(Box::new(view));
            }
        }
        let there = job.resume.as_ref().map_or(0, |record| record.trials.len());
        let planned = job.plan.trials.len();
        let slowdown = if counted::is_counted(&job.plan) { lab::COUNTED_SLOWDOWN } else { 1 };
        Self::Plain(match lab::forecast(&job.plan) {
            Some(forecast) => Progress::of_chosen(planned, there, forecast.most),
            None => Progress::of_all(planned, there, Nanos(job.plan.duration_estimate().0 * slowdown)),
        })
    }

    pub(super) fn event(&mut self, event: &Event<'_>) {
        match self {
            Self::Plain(progress) => progress.event(event),
            Self::Live(view) => view.event(event),
        }
    }

    pub(super) fn notice(&mut self, text: &str) {
        match self {
            Self::Plain(progress) => progress.notice(text),
            Self::Live(view) => view.notice(text),
        }
    }
}
