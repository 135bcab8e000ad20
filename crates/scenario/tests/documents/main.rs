//! Scenarios as documents: those that are right become plans, and what is wrong is told at its line. One program: each that is linked
//! costs as much as these tests take.

mod builtins;
mod guests;
mod guide;
mod mutations;
mod plans;
mod probed;
mod problems;
