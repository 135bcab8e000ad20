//! The page of a trace or of two compared traces, and the order of its sections.

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

/// What sections are made from.
struct Source<'a> {
    trace: &'a TraceSummary,
    /// So many rows a table at most.
    top: usize,
}

impl Source<'_> {
    /// Whether what was counted is too little for numbers a second.
    fn is_short(&self) -> bool {
        self.trace.elapsed < SHORTEST
    }
}

/// A rate over less time than this is that of a few packets or calls.
const SHORTEST: Nanos = Nanos::from_millis(100);

/// A section, or nothing where the trace has nothing to say on it.
type Build = fn(&Source<'_>) -> Option<Section>;

/// What is missing comes before any number.
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

/// What one trace says, with so many rows a table at most.
pub(crate) fn page(trace: &TraceSummary, top: usize) -> Page {
    let source = Source { trace, top };
    let title = in_a_line(&words::target(&trace.target));
    Page { title, sections: ORDER.iter().filter_map(|build| build(&source)).collect() }
}

/// What one virtual machine says, with so many rows a table at most.
pub(crate) fn vm_page(summary: &VmSummary, top: usize) -> Page {
    vm::page(summary, top)
}

/// Trace B against trace A.
pub(crate) fn comparison_page(comparison: &TraceComparison, top: usize) -> Page {
    comparison::page(comparison, top)
}
