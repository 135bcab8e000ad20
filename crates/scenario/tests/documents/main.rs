//! Integration tests of scenario documents: plans of valid ones, and diagnostics of invalid ones. A single program,
//! because linking takes as long as running the tests.

mod builtins;
mod guests;
mod guide;
mod mutations;
mod plans;
mod probed;
mod problems;
