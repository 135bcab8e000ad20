//! Whole pages from hand-written findings.
#![expect(clippy::disallowed_methods, reason = "reads and writes the golden files")]

mod advice;
mod golden;
mod judged;
mod layout;
mod pictures;
mod sample;
