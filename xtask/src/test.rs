//! `cargo xtask test`: builds all test programs and runs each one as soon as it is built, longest first.

mod parallel;
mod programs;
mod tally;

use std::num::NonZero;
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;

use anyhow::Result;
use clap::Args;

use crate::workspace::Workspace;
use programs::Program;
use tally::Tally;

/// The number of slow tests in the summary.
const SLOWEST: usize = 20;

/// Options of `test`.
#[derive(Args)]
pub(crate) struct Request {
    /// Only the tests of this package; repeatable
    #[arg(long, short, value_name = "PACKAGE")]
    package: Vec<String>,
    /// Passed to every test program, e.g. the name of a test
    #[arg(last = true)]
    arguments: Vec<String>,
}

pub(crate) fn run(workspace: &Workspace, request: &Request) -> Result<ExitCode> {
    let mut tally = Tally::default();
    let good = build_and_run(workspace, request, &mut tally)?;
    tally.end(good);
    for (seconds, name) in tally.took.iter().rev().take(SLOWEST) {
        println!("took {seconds} s: {name}");
    }
    for (name, reason) in &tally.skipped_because {
        println!("skipped {name}: {reason}");
    }
    println!("{tally}");
    Ok(if good && tally.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn build_and_run(workspace: &Workspace, request: &Request, tally: &mut Tally) -> Result<bool> {
    let arguments = &request.arguments;
    // Tests mostly wait for guests to boot and for trials to end, which takes no longer on a busy machine.
    let at_once = 2 * std::thread::available_parallelism().map_or(1, NonZero::get);
    let run = |program: &Program, lines: &mut dyn FnMut(&str)| {
        // The output is printed when the program has ended.
        eprintln!("starts: {}", program.name);
        program.run(arguments, lines)
    };
    thread::scope(|scope| {
        let (built, programs) = mpsc::channel();
        let building = scope.spawn(move || {
            programs::build(workspace, &request.package, &mut |program| {
                let program = if arguments.is_empty() { Some(program) } else { program.whole() };
                // There is no receiver if another program could not be run.
                program.into_iter().for_each(|program| drop(built.send(program)));
            })
        });
        let good = parallel::run(programs, at_once, &run, &mut |line| {
            print!("{line}");
            tally.read(line.trim_end());
        });
        match building.join().expect("it does not panic") {
            Ok(()) => good,
            Err(error) => {
                eprintln!("error: {error:#}");
                Ok(false)
            }
        }
    })
}
