//! `emulated`: the processor is software, so counts hold and times do not compare with hardware.

use findings::{CellSummary, Evidence, Finding, Remedy, Severity, Unit};
use samples::{Environment, ValidityWarning};

use super::{Context, Rule};
use crate::words::{count, list};

pub(crate) const RULE: Rule = Rule { id: "emulated", look };

/// QEMU's generic CPU models, rarely used with hardware virtualization.
const MODELS: [&str; 3] = ["tcg", "qemu virtual cpu", "bochs"];
/// Words of levels, paths and layers that mean emulation.
const WORDS: [&str; 3] = ["tcg", "emulated", "emulation"];
/// On hardware a system call takes a few hundred nanoseconds, below a hypervisor as well; emulated some thousands.
const SLOW_CALL_NANOS: f64 = 2000.0;

/// Evidence of emulation.
struct Sign {
    evidence: Evidence,
    sure: bool,
    /// The cells that it concerns; none means all.
    cells: Vec<String>,
}

/// One finding for certainly emulated results, one for possibly emulated ones.
fn look(context: &Context<'_>) -> Vec<Finding> {
    let environment = context.findings.run.environment.as_ref();
    let mut signs: Vec<Sign> =
        environment.into_iter().flat_map(|it| [model(it), slow(it)]).flatten().collect();
    signs.extend([doubted(context), named(context)].into_iter().flatten());
    let (sure, unsure): (Vec<Sign>, Vec<Sign>) = signs.into_iter().partition(|sign| sign.sure);
    let known = cells(&sure, context);
    let mut rest = cells(&unsure, context);
    rest.retain(|cell| !known.contains(cell));
    let claims = [(sure, known), (unsure, rest)];
    claims
        .into_iter()
        .filter(|(_, cells)| !cells.is_empty())
        .map(|(signs, cells)| finding(&signs, cells))
        .collect()
}

fn model(environment: &Environment) -> Option<Sign> {
    let model = environment.cpu_model.as_ref()?;
    let known = MODELS.iter().any(|word| model.to_lowercase().contains(word));
    known.then(|| Sign {
        evidence: Evidence::new("processor").text(model),
        sure: environment.virtual_machine,
        cells: Vec::new(),
    })
}

fn slow(environment: &Environment) -> Option<Sign> {
    let nanos = environment.engine?.syscall_ns;
    (environment.virtual_machine && nanos > SLOW_CALL_NANOS).then(|| Sign {
        evidence: Evidence::new("fastest system call on this virtual machine")
            .rounded(nanos, Unit::Nanoseconds)
            .text(" ns"),
        sure: false,
        cells: Vec::new(),
    })
}

/// Results with the warning `emulated`.
fn doubted(context: &Context<'_>) -> Option<Sign> {
    let says = |cell: &&CellSummary| cell.doubts.iter().any(|(doubt, _)| *doubt == ValidityWarning::Emulated);
    of_cells("an emulated machine at one end", context.findings.cells.iter().filter(says))
}

/// Results with a path or level named after emulation.
fn named(context: &Context<'_>) -> Option<Sign> {
    let says = |text: &String| {
        let text = text.to_lowercase();
        text.split(|letter: char| !letter.is_alphanumeric()).any(|word| WORDS.contains(&word))
    };
    let named =
        context.findings.cells.iter().filter(|cell| {
            says(&cell.path) || cell.layers.iter().any(says) || cell.levels.values().any(says)
        });
    of_cells("named as emulated", named)
}

fn of_cells<'a>(what: &str, cells: impl Iterator<Item = &'a CellSummary>) -> Option<Sign> {
    let cells: Vec<String> = cells.map(|cell| cell.id.clone()).collect();
    let evidence = Evidence::new(what).text(list(&cells));
    (!cells.is_empty()).then_some(Sign { evidence, sure: true, cells })
}

/// The cells that these signs concern, in the run's order.
fn cells(signs: &[Sign], context: &Context<'_>) -> Vec<String> {
    let concerned = |cell: &String| {
        // A sign of the machine concerns every cell.
        signs.iter().any(|sign| sign.cells.is_empty() || sign.cells.contains(cell))
    };
    context.findings.cells.iter().map(|cell| cell.id.clone()).filter(concerned).collect()
}

fn finding(signs: &[Sign], cells: Vec<String>) -> Finding {
    let sure = signs.iter().any(|sign| sign.sure);
    Finding {
        id: String::new(),
        severity: if sure { Severity::Warning } else { Severity::Note },
        claim: format!(
            "The processor {} emulated in {}: times and rates are not comparable with hardware. Counts and their \
             ratios are valid.",
            if sure { "was" } else { "may have been" },
            count(cells.len(), "result")
        ),
        cells,
        evidence: signs.iter().map(|sign| sign.evidence.clone()).collect(),
        caveats: vec![
            "Emulation slows down some work more than other work, so ratios of times differ on hardware too."
                .into(),
            "A machine can hide that it is emulated; the absence of this finding proves nothing.".into(),
        ],
        remedy: Some(Remedy::manual(
            "Repeat the run with hardware virtualization (KVM) before quoting any time or rate.".into(),
            vec!["plumb doctor".into(), "systemd-detect-virt".into()],
        )),
    }
}
