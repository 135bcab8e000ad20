//! `slow-governor`: the frequency governor keeps the CPU slow.

use findings::{Remedy, Severity};

use super::{Claim, Rule, SingleTrial};

pub(super) const RULE: Rule = Rule::cause("slow-governor", |trial| look(trial).into_iter().collect());

fn look(trial: &SingleTrial<'_>) -> Option<Claim> {
    let governor = trial.single.environment?.governor.as_deref()?;
    matches!(governor, "powersave" | "conservative").then(|| {
        Claim::new(Severity::Warning, format!("The frequency governor is {governor}"))
            .detail("the CPU may run below full speed, which affects latency most")
            .with_limits([
                "With the intel_pstate and amd_pstate drivers in active mode, powersave still raises the \
                 frequency under load.",
            ])
            .with_remedy(Remedy::manual(
                "Compare with the performance governor",
                vec!["cpupower frequency-set -g performance".into()],
            ))
    })
}
