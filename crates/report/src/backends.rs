//! Renders a page or the findings as text. The formats do not depend on each other.

mod bars;
pub(crate) mod csv;
pub(crate) mod escape;
mod html;
mod json;
mod junit;
mod latex;
mod markdown;
mod terminal;

pub(crate) use csv::{
    basis as csv_basis, comparison as csv_comparison, line as csv_line, results as csv_results,
    trials as csv_trials, unit as csv_unit, verdict as csv_verdict, word as csv_word,
};
pub(crate) use html::page as html;
pub(crate) use json::json;
pub(crate) use junit::junit;
pub(crate) use latex::latex;
pub(crate) use markdown::markdown;
pub use terminal::with_database;
pub(crate) use terminal::{terminal, wrapped_lines};
