//! `cargo xtask test`: builds every test program, runs those that mostly wait beside each other and the others one by
//! one, shows what they print, and ends with one line that counts the tests. Must not know any test.

mod beside;
mod programs;
mod tally;

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

use crate::house::House;
use programs::Program;
use tally::Tally;

/// What to run.
#[derive(Args)]
pub(crate) struct Request {
    /// Only the tests of this package; may be given several times
    #[arg(long, short, value_name = "PACKAGE")]
    package: Vec<String>,
    /// Handed to every test program, such as the name of a test
    #[arg(last = true)]
    arguments: Vec<String>,
}

/// Builds and runs; the exit status tells whether every test program ended well.
pub(crate) fn run(house: &House, request: &Request) -> Result<ExitCode> {
    let mut tally = Tally::default();
    let good = match programs::build(house, &request.package) {
        Ok(programs) => run_all(programs, &request.arguments, &mut tally)?,
        Err(error) => {
            eprintln!("error: {error:#}");
            false
        }
    };
    tally.end(good);
    for (name, reason) in &tally.skipped_because {
        println!("skipped {name}: {reason}");
    }
    println!("{tally}");
    Ok(if good && tally.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Shows and counts every line that they print, and tells whether all ended well.
fn run_all(programs: Vec<Program>, arguments: &[String], tally: &mut Tally) -> Result<bool> {
    let (waiting, others): (Vec<_>, Vec<_>) = programs.into_iter().partition(|program| program.waits);
    let mut show = |line: &str| {
        print!("{line}");
        tally.read(line.trim_end());
    };
    let mut good = beside::run(&waiting, &|program, lines| program.run(arguments, lines), &mut show)?;
    for program in &others {
        good &= program.run(arguments, &mut show)?;
    }
    Ok(good)
}
