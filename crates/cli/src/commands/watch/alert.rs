//! When somebody is told, and the program that tells them. Must not know how runs are compared.

use std::{
    process::Command,
    thread,
    time::{Duration, Instant},
};

use analysis::NewestRun;
use anyhow::{Context, bail};
use findings::RunLevelShift;
use machine::Subprocess;
use serde::Serialize;

use super::{report::MeasurementReport, run_process::GLANCE};

/// For how long a program that is told may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// What is told, once each time it comes to be so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Alert {
    /// A loss is established that was not before.
    Lost,
    /// A result stays at another, worse level.
    LevelShift,
    /// A loss that was established is none any more.
    Recovered,
}

impl Alert {
    /// What there is to tell of a run. A loss that stands already is told no more by where its level shift is found later.
    pub(super) fn of(newest: &NewestRun, shifts: &[RunLevelShift]) -> Option<Self> {
        match (newest.was_lost, newest.is_lost) {
            (false, true) => Some(Self::Lost),
            (true, false) => Some(Self::Recovered),
            (false, false) if !shifts.is_empty() => Some(Self::LevelShift),
            _ => None,
        }
    }

    /// As programs read it.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::LevelShift => "level-shift",
            Self::Recovered => "recovered",
        }
    }
}

/// Runs the program that tells somebody: the report is on its standard input, and in its environment what it is of.
pub(super) fn tell(hook: &[String], alert: Alert, report: &MeasurementReport) -> anyhow::Result<()> {
    tell_within(PATIENCE, hook, alert, report)
}

fn tell_within(
    patience: Duration,
    hook: &[String],
    alert: Alert,
    report: &MeasurementReport,
) -> anyhow::Result<()> {
    let [program, arguments @ ..] = hook else { bail!("no program is named") };
    let mut command = Command::new(program);
    command.args(arguments);
    command.env("PLUMB_RUN", report.run.as_ref().map_or("", |run| run.0.as_str()));
    command.env("PLUMB_SCENARIO", &report.scenario).env("PLUMB_VERDICT", alert.word());
    let input = serde_json::to_string(report)? + "\n";
    let mut hook = Subprocess::start(&mut command, program, input.into())?;
    let begun = Instant::now();
    let status = loop {
        match hook.ended().with_context(|| format!("cannot wait for {program}"))? {
            Some(status) => break status,
            None if begun.elapsed() > patience => {
                hook.kill();
                bail!("{program} had not ended after {patience:.0?}, and was killed");
            }
            None => thread::sleep(GLANCE),
        }
    };
    if status.success() {
        return Ok(());
    }
    let said = hook.errors();
    let last = said.lines().next_back().map(|line| format!(": {line}")).unwrap_or_default();
    bail!("{program} ended with {status}{last}")
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    fn newest(was_lost: bool, is_lost: bool) -> NewestRun {
        NewestRun { compared: None, was_lost, is_lost }
    }

    #[test]
    fn each_change_is_told_once() {
        let shift = RunLevelShift {
            cell: "wire/bulk".into(),
            metric: workload::Metric::Throughput,
            before: 2.0,
            after: 1.0,
            since: samples::RunId("small-1".into()),
        };
        let shifts = &[shift][..];
        for (was, is, shifts, told) in [
            (false, false, &[][..], None),
            (false, true, &[], Some(Alert::Lost)),
            (false, true, shifts, Some(Alert::Lost)),
            (true, true, shifts, None),
            (true, true, &[], None),
            (true, false, &[], Some(Alert::Recovered)),
            (false, false, shifts, Some(Alert::LevelShift)),
        ] {
            assert_eq!(Alert::of(&newest(was, is), shifts), told, "{was} {is} {shifts:?}");
        }
    }

    fn told(script: &str) -> Result<(), String> {
        let hook = ["sh", "-c", script].map(str::to_owned);
        let at = Timestamp::from_second(1_795_600_800).expect("a time");
        let report = MeasurementReport::new(at, "small", None);
        tell_within(Duration::from_millis(500), &hook, Alert::Lost, &report)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_program_that_is_told_has_the_document_and_the_names() {
        let script = "read -r line; case \"$line\" in *'\"scenario\":\"small\"'*) ;; *) exit 4;; esac; \
                      test \"$PLUMB_SCENARIO $PLUMB_VERDICT $PLUMB_RUN\" = 'small lost '";
        assert_eq!(told(script), Ok(()));
    }

    #[test]
    fn one_that_fails_or_does_not_end_is_told() {
        let failed = told("echo no mail >&2; exit 3").expect_err("it fails");
        assert!(failed.contains("sh ended with exit status: 3: no mail"), "{failed}");
        let endless = told("sleep 60; true").expect_err("it does not end");
        assert!(endless.contains("was killed"), "{endless}");
        let missing = ["/no/such/program".to_owned()];
        let at = Timestamp::from_second(0).expect("a time");
        let report = MeasurementReport::new(at, "small", None);
        let error = tell(&missing, Alert::Lost, &report).expect_err("there is none").to_string();
        assert!(error.contains("cannot start /no/such/program"), "{error}");
    }
}
