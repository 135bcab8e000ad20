//! Tests of plans and diagnostics. A single program, since linking takes as long as running the tests.

mod builtins;
mod guests;
mod guide;
mod mutations;
mod plans;
mod probed;
mod problems;
