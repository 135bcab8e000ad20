//! A page, or the findings themselves, as text. One file for each format; none knows another.

mod bars;
pub(crate) mod csv;
mod escape;
mod html;
mod json;
mod markdown;
mod picture;
mod terminal;

pub(crate) use csv::{cells as csv_cells, comparison as csv_contrast, trials as csv_trials};
pub(crate) use html::page as html;
pub(crate) use json::json;
pub(crate) use markdown::markdown;
pub(crate) use terminal::{terminal, wrapped_lines};
