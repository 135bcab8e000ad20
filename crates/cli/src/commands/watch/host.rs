//! Connects a watch to the command line: loads scenarios, starts runs, calls the alert hook and prints reports.

use std::path::PathBuf;

use anyhow::Result;
use lab::Stop;
use samples::RunId;
use watch::{Alert, Host, MeasurementReport, RunEnd, Watched};

use super::{alert, plan::Plan, run_process};
use crate::{global_flags::GlobalFlags, live_view, output, source};

pub(super) struct Program<'a> {
    pub(super) plan: &'a Plan,
    pub(super) shared: &'a GlobalFlags,
    pub(super) store: PathBuf,
    pub(super) stop: &'a Stop,
    pub(super) is_json: bool,
}

impl Host for Program<'_> {
    fn digest(&mut self, scenario: &str) -> Result<String> {
        Ok(source::load(scenario, self.shared)?.scenario.digest)
    }

    fn measure(&mut self, watched: &Watched, resume: Option<&RunId>) -> Result<RunEnd> {
        let is_shown = live_view::is_watched();
        if is_shown {
            output::passing(&format!("measuring {}", watched.name));
        }
        let ended = run_process::measure(&watched.measure.scenario, resume, &self.store, self.stop);
        if is_shown {
            output::erase();
        }
        ended
    }

    fn send_alert(&mut self, alert: Alert, report: &MeasurementReport) -> Result<()> {
        self.plan.hook.as_deref().map_or(Ok(()), |hook| alert::run_hook(hook, alert, report))
    }

    fn report(&mut self, report: &MeasurementReport) -> Result<()> {
        if self.is_json {
            output::line(serde_json::to_string(report)?)?;
        } else {
            report.lines().iter().try_for_each(|line| output::prose(line))?;
        }
        Ok(())
    }

    fn note(&mut self, text: &str) {
        output::aside(text);
    }
}
