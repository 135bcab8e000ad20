//! `slow-governor`: the CPU's frequency is kept low.

use findings::{Severity, SingleMeasurement};

use super::{Advice, Hint};
use crate::single_measurement::Single;

pub(crate) const HINT: Hint = Hint { id: "slow-governor", look };

fn look(single: &Single<'_>, _: &SingleMeasurement) -> Option<Advice> {
    let governor = single.environment?.governor.as_deref()?;
    matches!(governor, "powersave" | "conservative").then(|| Advice {
        severity: Severity::Warning,
        claim: format!("The frequency governor is {governor}: the CPU may run below its speed, most of all for latency."),
        evidence: Vec::new(),
        caveats: vec!["With the drivers intel_pstate and amd_pstate in active mode powersave still raises the frequency under load."],
        action: "Measure with the governor performance beside it:".into(),
        commands: vec!["cpupower frequency-set -g performance".into()],
    })
}
