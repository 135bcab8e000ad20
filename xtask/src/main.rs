//! House rules as code, with one file per subcommand.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a tool for the developer's terminal: it reads the tree, writes generated files and prints to the terminal"
)]

mod captures;
mod ceilings;
mod check;
mod count;
mod declared;
mod edges;
mod generate;
mod kinds;
mod matches;
mod pictures;
mod prose;
mod rules;
mod script;
mod source;
mod test;
mod tokens;
mod workspace;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

/// House rules as code.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Verb {
    /// Write terminal output of `plumb` into docs/guide/screens.md
    Captures(captures::Request),
    /// Check the tree against every house rule
    Check(check::Request),
    /// Print figures that show whether the code gets simpler
    Count(count::Request),
    /// Write the files that `plumb` generates, such as JSON schemas
    Generate,
    /// Draw the pictures of docs/guide/pictures.md
    Pictures(pictures::Request),
    /// Run every test and end with one line: passed, failed, skipped
    Test(test::Request),
}

fn main() -> ExitCode {
    run(Verb::parse()).unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

fn run(verb: Verb) -> Result<ExitCode> {
    let workspace = workspace::Workspace::open()?;
    match verb {
        Verb::Captures(request) => captures::run(&workspace, &request),
        Verb::Check(request) => check::run(&workspace, &request),
        Verb::Count(request) => count::run(&workspace, &request),
        Verb::Generate => generate::run(&workspace),
        Verb::Pictures(request) => pictures::run(&workspace, &request),
        Verb::Test(request) => test::run(&workspace, &request),
    }
}
