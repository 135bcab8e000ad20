//! Tests of plans and diagnostics. They share a binary, because linking takes as long as the tests.

mod builtins;
mod guests;
mod guide;
mod mutations;
mod plans;
mod probed;
mod problems;
