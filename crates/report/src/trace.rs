//! The pages of a trace and of a comparison of two traces.

mod calls;
mod comparison;
mod conclusion;
mod cpu;
mod devices;
mod head;
#[cfg(test)]
mod tests;
mod threads;
mod unfinished_calls;
mod vm;
mod words;

use findings::{TraceComparison, TraceSummary, VmSummary};
use units::Nanos;

use crate::{
    harmless::in_a_line,
    page::{Page, Section},
};

struct Source<'a> {
    trace: &'a TraceSummary,
    top: usize,
}

impl Source<'_> {
    fn is_short(&self) -> bool {
        self.trace.elapsed < SHORTEST
    }
}

/// Minimum duration of a trace for rates of packets or calls.
const SHORTEST: Nanos = Nanos::from_millis(100);

type Build = fn(&Source<'_>) -> Option<Section>;

/// Notes about missing data come before any values.
const ORDER: &[Build] = &[
    head::build,
    conclusion::build,
    calls::build,
    threads::build,
    unfinished_calls::build,
    cpu::build,
    devices::build,
    calls::tails,
];

pub(crate) fn page(trace: &TraceSummary, top: usize) -> Page {
    let source = Source { trace, top };
    let title = in_a_line(&words::target(&trace.target));
    Page { title, sections: ORDER.iter().filter_map(|build| build(&source)).collect() }
}

pub(crate) fn vm_page(summary: &VmSummary, top: usize) -> Page {
    vm::page(summary, top)
}

pub(crate) fn comparison_page(comparison: &TraceComparison, top: usize) -> Page {
    comparison::page(comparison, top)
}
