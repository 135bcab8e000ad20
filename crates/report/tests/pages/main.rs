//! Whole pages, of findings made by hand.
#![expect(clippy::disallowed_methods, reason = "reads and writes the golden files")]

mod golden;
mod judged;
mod layout;
mod pictures;
mod sample;
