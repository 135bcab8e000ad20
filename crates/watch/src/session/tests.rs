//! Tests the loop of a watch with a host in memory.

use std::{collections::VecDeque, path::Path};

use anyhow::bail;
use units::{Nanos, Share};

use super::*;
use crate::{measure::Measure, schedule::Timing};

/// `ends` lists how the runs end. While the mail server is down, no alert can be sent.
#[derive(Default)]
struct Fake {
    ends: VecDeque<RunEnd>,
    is_mail_down: bool,
    alerts: Vec<Alert>,
    reports: Vec<MeasurementReport>,
    notes: Vec<String>,
}

impl Host for &mut Fake {
    fn digest(&mut self, scenario: &str) -> anyhow::Result<String> {
        Ok(format!("digest of {scenario}"))
    }

    fn measure(&mut self, _: &Watched, _: Option<&RunId>) -> anyhow::Result<RunEnd> {
        self.ends.pop_front().context("no more runs")
    }

    fn send_alert(&mut self, alert: Alert, _: &MeasurementReport) -> anyhow::Result<()> {
        if self.is_mail_down {
            bail!("no mail")
        }
        self.alerts.push(alert);
        Ok(())
    }

    fn report(&mut self, report: &MeasurementReport) -> anyhow::Result<()> {
        self.reports.push(report.clone());
        Ok(())
    }

    fn note(&mut self, text: &str) {
        self.notes.push(text.to_owned());
    }
}

/// Runs the scenario once, with the state from earlier calls. The scenario is always due.
fn once(folder: &Path, host: &mut Fake) -> WatchEnd {
    let timing = Timing { every: Nanos(0), jitter: Nanos(0), at: None };
    let (scenario, against, max_loss) = ("quick".to_owned(), Against::default(), Share(0.05));
    let measure = Measure { scenario, timing, against, max_loss };
    let watched = Watched { measure, name: "quick".to_owned(), digest: "digest of quick".to_owned() };
    let archive = Archive::new(folder.join("runs.db"));
    let state = WatchState::open(&folder.join("state")).expect("it opens").expect("not locked");
    let stop = Stop::new();
    Session::new(host, vec![watched], None, archive, state, &stop).once().expect("reports are printed")
}

fn failed() -> RunEnd {
    RunEnd::Failed("no route".to_owned())
}

#[test]
fn alerts_once_when_measurements_fail() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut host = Fake { ends: [failed(), failed()].into(), ..Fake::default() };
    for _ in 0..2 {
        assert_eq!(once(folder.path(), &mut host), WatchEnd::Finished(Some(Verdict::Failed)));
    }
    assert_eq!(host.alerts, [Alert::Failed]);
    let reasons: Vec<_> = host.reports.iter().filter_map(|report| report.reason.as_deref()).collect();
    assert_eq!(reasons, ["no route", "no route"]);
}

#[test]
fn reports_run_that_is_not_stored_as_failure() {
    let folder = tempfile::tempdir().expect("a folder");
    let stored = RunEnd::Stored(RunId("quick-1".to_owned()));
    let mut host = Fake { ends: [stored].into(), is_mail_down: true, ..Fake::default() };
    assert_eq!(once(folder.path(), &mut host), WatchEnd::Finished(Some(Verdict::Failed)));
    assert_eq!(host.reports[0].reason.as_deref(), Some("run quick-1 is incomplete or not stored"));
    assert_eq!(host.notes, ["warning: the alert failed: no mail"]);
}

#[test]
fn interrupted_run_ends_watch_without_report() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut host = Fake { ends: [RunEnd::Interrupted].into(), ..Fake::default() };
    assert_eq!(once(folder.path(), &mut host), WatchEnd::Interrupted);
    assert!(host.reports.is_empty() && host.alerts.is_empty(), "{:?}", host.reports);
}
