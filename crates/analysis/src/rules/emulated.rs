//! `emulated`: the processor is software, so counts hold and times do not compare with hardware.

use findings::{Evidence, Finding, Remedy, Severity};
use samples::Environment;

use super::{Context, Rule};
use crate::words::{count, list};

pub(crate) const RULE: Rule = Rule { id: "emulated", look };

/// What QEMU's own processor models are called, which hardly anybody uses with hardware below.
const MODELS: [&str; 3] = ["tcg", "qemu virtual cpu", "bochs"];
/// Words of levels, paths and layers that mean emulation.
const WORDS: [&str; 3] = ["tcg", "emulated", "emulation"];
/// On hardware a system call takes a few hundred nanoseconds, below a hypervisor as well; emulated some thousands.
const SLOW_CALL_NANOS: f64 = 2000.0;

/// What shows it.
struct Sign {
    evidence: Evidence,
    sure: bool,
    /// The cells that it concerns; none means all.
    cells: Vec<String>,
}

/// One claim for the run.
fn look(context: &Context<'_>) -> Vec<Finding> {
    let environment = context.findings.run.environment.as_ref();
    let mut signs: Vec<Sign> =
        environment.into_iter().flat_map(|it| [model(it), slow(it)]).flatten().collect();
    signs.extend(named(context));
    if signs.is_empty() { Vec::new() } else { vec![finding(&signs, context)] }
}

fn model(environment: &Environment) -> Option<Sign> {
    let model = environment.cpu_model.as_ref()?;
    let known = MODELS.iter().any(|word| model.to_lowercase().contains(word));
    known.then(|| Sign {
        evidence: Evidence { what: "the processor".into(), value: model.clone() },
        sure: environment.virtual_machine,
        cells: Vec::new(),
    })
}

fn slow(environment: &Environment) -> Option<Sign> {
    let nanos = environment.engine?.syscall_ns;
    (environment.virtual_machine && nanos > SLOW_CALL_NANOS).then(|| Sign {
        evidence: Evidence {
            what: "the cheapest system call on this virtual machine".into(),
            value: format!("{} ns", units::significant(nanos, 3)),
        },
        sure: false,
        cells: Vec::new(),
    })
}

/// Cells whose path or levels say that a machine on the way is emulated.
fn named(context: &Context<'_>) -> Option<Sign> {
    let says = |text: &String| {
        let text = text.to_lowercase();
        text.split(|letter: char| !letter.is_alphanumeric()).any(|word| WORDS.contains(&word))
    };
    let cells: Vec<String> = context
        .findings
        .cells
        .iter()
        .filter(|cell| says(&cell.path) || cell.layers.iter().any(says) || cell.levels.values().any(says))
        .map(|cell| cell.id.clone())
        .collect();
    (!cells.is_empty()).then(|| Sign {
        evidence: Evidence { what: "named as emulated".into(), value: list(&cells) },
        sure: true,
        cells,
    })
}

fn finding(signs: &[Sign], context: &Context<'_>) -> Finding {
    let sure = signs.iter().any(|sign| sign.sure);
    let all = || context.findings.cells.iter().map(|cell| cell.id.clone()).collect::<Vec<_>>();
    // A sign of the machine concerns every cell.
    let cells = if signs.iter().any(|sign| sign.cells.is_empty()) {
        all()
    } else {
        signs.iter().flat_map(|sign| sign.cells.clone()).collect()
    };
    Finding {
        id: String::new(),
        severity: if sure { Severity::Warning } else { Severity::Note },
        claim: format!(
            "{} {} measured on a processor that {} emulated: counts and their ratios hold, times and rates do not \
             compare with hardware.",
            count(cells.len(), "cell"),
            if cells.len() == 1 { "was" } else { "were" },
            if sure { "is" } else { "may be" }
        ),
        cells,
        evidence: signs.iter().map(|sign| sign.evidence.clone()).collect(),
        caveats: vec![
            "Emulation makes some work dearer than other: a ratio of two times is not the same on hardware \
             either."
                .into(),
            "A machine can hide what it is; the lack of this finding proves nothing.".into(),
        ],
        remedy: Some(Remedy::manual(
            "Repeat it where the hardware runs the guests (KVM), before any time or rate is quoted.".into(),
            vec!["plumb doctor".into(), "systemd-detect-virt".into()],
        )),
    }
}
