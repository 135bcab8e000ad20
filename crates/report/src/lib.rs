//! Lays out findings as a page of sections and renders it in several formats.
//!
//! Defines wording, order and layout. All formats show the same values, because `findings` and `samples` compute them.
//! Sections do not depend on the format, and backends do not depend on the domain.

mod backends;
mod chart;
mod comparison;
mod contest;
mod harmless;
mod kind;
mod labels;
mod live;
mod memory;
mod page;
mod phrases;
mod pictures;
mod quantity;
mod render;
mod sections;
mod single;
mod text;
mod trace;

pub use backends::with_database;
pub use chart::Theme;
pub use contest::contest;
pub use harmless::harmless;
pub use labels::result_label;
pub use live::{Judgement, LiveFinding, LiveResult, LiveStep, live_findings, live_results};
pub use page::Summary;
pub use phrases::plain_value;
pub use pictures::{
    MOST_RUNS, Picture, comparison_pictures, memory_pictures, overlaid_pictures, picture_kinds, pictures,
};
pub use quantity::Scale;
pub use render::{
    Format, Options, SingleFormat, UnknownFormat, View, measurement_line, render, render_comparison,
    render_junit, render_memory, render_single, render_trace, render_trace_comparison, render_vm,
    section_names,
};
