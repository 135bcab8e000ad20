//! When somebody is told, and the program that tells them. Must not know how runs are compared.

use std::{
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use machine::Subprocess;
use serde::Serialize;

use super::{report::MeasurementReport, run_process::GLANCE};
use crate::{bounded_file, commands::trace::launch};

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
    /// No run came of a measurement, while one had come of that before.
    Failed,
}

impl Alert {
    /// As programs read it.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::LevelShift => "level-shift",
            Self::Recovered => "recovered",
            Self::Failed => "failed",
        }
    }
}

/// Runs the program that tells somebody: the report is on its standard input, and in its environment what it is of.
pub(super) fn tell(hook: &[String], alert: Alert, report: &MeasurementReport) -> anyhow::Result<()> {
    tell_within(PATIENCE, hook, alert, report)
}

/// The program of a hook, as execvp(3) finds it; `None` where there is none.
///
/// # Errors
/// When another user can have written it.
pub(super) fn hook_program(name: &str) -> anyhow::Result<Option<PathBuf>> {
    let found = launch::find(name.as_ref()).ok();
    found.as_deref().map(bounded_file::require_trusted).transpose()?;
    Ok(found)
}

fn tell_within(
    patience: Duration,
    hook: &[String],
    alert: Alert,
    report: &MeasurementReport,
) -> anyhow::Result<()> {
    let [program, arguments @ ..] = hook else { bail!("no program is named") };
    let found = hook_program(program)?;
    let mut command = Command::new(found.as_deref().unwrap_or(Path::new(program)));
    command.args(arguments);
    command.env("PLUMB_RUN", report.run.as_ref().map_or("", |run| run.0.as_str()));
    command.env("PLUMB_SCENARIO", &report.scenario).env("PLUMB_ALERT", alert.word());
    let input = serde_json::to_string(report)? + "\n";
    let mut hook = Subprocess::start(&mut command, program, input.into(), |_| ())?;
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

    fn told(script: &str, patience: Duration) -> Result<(), String> {
        let hook = ["sh", "-c", script].map(str::to_owned);
        let at = Timestamp::from_second(1_795_600_800).expect("a time");
        let report = MeasurementReport::new(at, "small", None);
        tell_within(patience, &hook, Alert::Lost, &report).map_err(|error| error.to_string())
    }

    #[test]
    fn a_program_that_is_told_has_the_document_and_the_names() {
        let script = "read -r line; case \"$line\" in *'\"scenario\":\"small\"'*) ;; *) exit 4;; esac; \
                      test \"$PLUMB_SCENARIO $PLUMB_ALERT $PLUMB_RUN\" = 'small lost '";
        assert_eq!(told(script, PATIENCE), Ok(()));
    }

    #[test]
    fn one_that_fails_or_does_not_end_is_told() {
        let failed = told("echo no mail >&2; exit 3", PATIENCE).expect_err("it fails");
        assert!(failed.contains("sh ended with exit status: 3: no mail"), "{failed}");
        let endless = told("sleep 60; true", Duration::from_millis(500)).expect_err("it does not end");
        assert!(endless.contains("was killed"), "{endless}");
        let missing = ["/no/such/program".to_owned()];
        let at = Timestamp::from_second(0).expect("a time");
        let report = MeasurementReport::new(at, "small", None);
        let error = tell(&missing, Alert::Lost, &report).expect_err("there is none").to_string();
        assert!(error.contains("cannot start /no/such/program"), "{error}");
    }
}
