//! Runs the alert hook.

use std::{
    path::Path,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use machine::Subprocess;
use watch::{Alert, MeasurementReport};

use super::{plan::hook_program, run_process::GLANCE};

const PATIENCE: Duration = Duration::from_secs(30);

pub(super) fn run_hook(hook: &[String], alert: Alert, report: &MeasurementReport) -> anyhow::Result<()> {
    report_within(PATIENCE, hook, alert, report)
}

fn report_within(
    patience: Duration,
    hook: &[String],
    alert: Alert,
    report: &MeasurementReport,
) -> anyhow::Result<()> {
    let [program, arguments @ ..] = hook else { bail!("no program given") };
    let found = hook_program(program)?;
    let mut command = Command::new(found.as_deref().unwrap_or(Path::new(program)));
    command.args(arguments);
    command.env("PLUMB_RUN", report.run.as_ref().map_or("", |run| run.0.as_str()));
    command.env("PLUMB_SCENARIO", &report.scenario).env("PLUMB_ALERT", alert.word());
    let input = serde_json::to_string(report)? + "\n";
    let mut hook = Subprocess::start(&mut command, program, input.into(), |_| ())?;
    let start = Instant::now();
    let status = loop {
        match hook.ended().with_context(|| format!("cannot wait for {program}"))? {
            Some(status) => break status,
            None if start.elapsed() > patience => {
                hook.kill();
                bail!("killed {program}, which was still running after {patience:.0?}");
            }
            None => thread::sleep(GLANCE),
        }
    };
    if status.success() {
        return Ok(());
    }
    let errors = hook.errors();
    let last = errors.lines().next_back().map(|line| format!(": {line}")).unwrap_or_default();
    bail!("{program} ended with {status}{last}")
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    fn run_script(script: &str, patience: Duration) -> Result<(), String> {
        let hook = ["sh", "-c", script].map(str::to_owned);
        let at = Timestamp::from_second(1_795_600_800).expect("a time");
        let report = MeasurementReport::new(at, "small", None);
        report_within(patience, &hook, Alert::Regression, &report).map_err(|error| error.to_string())
    }

    #[test]
    fn hook_receives_document_and_environment() {
        let script = "read -r line; case \"$line\" in *'\"scenario\":\"small\"'*) ;; *) exit 4;; esac; \
                      test \"$PLUMB_SCENARIO $PLUMB_ALERT $PLUMB_RUN\" = 'small regression '";
        assert_eq!(run_script(script, PATIENCE), Ok(()));
    }

    #[test]
    fn reports_failed_and_hanging_hooks() {
        let failed = run_script("echo no mail >&2; exit 3", PATIENCE).expect_err("hook fails");
        assert!(failed.contains("sh ended with exit status: 3: no mail"), "{failed}");
        let endless = run_script("sleep 60; true", Duration::from_millis(500)).expect_err("hook times out");
        assert!(endless.contains("killed sh"), "{endless}");
        let missing = ["/no/such/program".to_owned()];
        let at = Timestamp::from_second(0).expect("a time");
        let report = MeasurementReport::new(at, "small", None);
        let error = run_hook(&missing, Alert::Regression, &report).expect_err("no such program").to_string();
        assert!(error.contains("cannot start /no/such/program"), "{error}");
    }
}
