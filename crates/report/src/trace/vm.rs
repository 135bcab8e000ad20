//! The page of a running virtual machine: description, recommendations, CPU time by role, devices, and the trace.

mod devices;
mod machine;
mod roles;

use findings::VmSummary;

use super::{Source, calls, cpu, head, threads, unfinished_calls, words};
use crate::{
    harmless::in_a_line,
    page::{Page, *},
    sections::verdict,
};

pub(crate) fn page(summary: &VmSummary, top: usize) -> Page {
    let source = Source { trace: &summary.trace, top };
    let title = in_a_line(&words::target(&summary.trace.target));
    let sections = [
        head::build(&source),
        Some(machine::section(&summary.vm)),
        Some(claims(summary)),
        roles::section(summary),
        devices::section(summary),
        devices::offloads(summary),
        calls::build(&source),
        threads::build(&source),
        unfinished_calls::build(&source),
        cpu::build(&source),
        calls::tails(&source),
    ];
    Page { title, sections: sections.into_iter().flatten().collect() }
}

fn claims(summary: &VmSummary) -> Section {
    let blocks: Vec<Block> = summary.findings.iter().flat_map(verdict::claim).collect();
    let nothing = "No costly setting was found that is visible from the host.";
    let nothing = || vec![Block::Paragraph(Text::good(nothing))];
    section("Findings", if blocks.is_empty() { nothing() } else { blocks })
}

#[cfg(test)]
mod tests;
