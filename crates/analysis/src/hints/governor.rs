//! `slow-governor`: the CPU's frequency is kept low.

use findings::{Severity, Solo};

use super::{Hint, Said};
use crate::solo::Single;

pub(crate) const HINT: Hint = Hint { id: "slow-governor", look };

fn look(single: &Single<'_>, _: &Solo) -> Option<Said> {
    let governor = single.environment?.governor.as_deref()?;
    matches!(governor, "powersave" | "conservative").then(|| Said {
        severity: Severity::Warning,
        claim: format!("The frequency governor is {governor}: the CPU may run below its speed, most of all for latency."),
        evidence: Vec::new(),
        caveats: vec!["With the drivers intel_pstate and amd_pstate in active mode powersave still raises the frequency under load."],
        action: "Measure with the governor performance beside it:".into(),
        commands: vec!["cpupower frequency-set -g performance".into()],
    })
}
