//! `slow-governor`: the frequency governor keeps the CPU slow.

use findings::{Finding, Severity};

use super::{Rule, SingleTrial};

pub(super) const RULE: Rule = Rule { id: "slow-governor", look: |trial| look(trial).into_iter().collect() };

fn look(trial: &SingleTrial<'_>) -> Option<Finding> {
    let governor = trial.single.environment?.governor.as_deref()?;
    let claim = format!(
        "The frequency governor is {governor}: the CPU may run below full speed, which affects latency most."
    );
    matches!(governor, "powersave" | "conservative").then(|| {
        Finding::new(Severity::Warning, claim)
            .with_limits([
                "With the intel_pstate and amd_pstate drivers in active mode, powersave still raises the \
                 frequency under load.",
            ])
            .with_remedy(
                "Compare with the performance governor:",
                vec!["cpupower frequency-set -g performance".into()],
            )
    })
}
