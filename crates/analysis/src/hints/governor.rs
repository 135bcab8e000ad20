//! `slow-governor`: the CPU's frequency is kept low.

use findings::{Finding, Severity};

use super::{Rule, SingleTrial};

pub(super) const RULE: Rule = Rule { id: "slow-governor", look: |trial| look(trial).into_iter().collect() };

fn look(trial: &SingleTrial<'_>) -> Option<Finding> {
    let governor = trial.single.environment?.governor.as_deref()?;
    let claim = format!(
        "The frequency governor is {governor}: the CPU may run below its speed, most of all for latency."
    );
    matches!(governor, "powersave" | "conservative").then(|| {
        Finding::new(Severity::Warning, claim)
            .with_limits(["With the drivers intel_pstate and amd_pstate in active mode powersave still raises the frequency \
                      under load."])
            .with_remedy(
                "Measure with the governor performance beside it:",
                vec!["cpupower frequency-set -g performance".into()],
            )
    })
}
