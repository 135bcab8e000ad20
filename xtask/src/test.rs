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
/// If more tests than this fail, the failures are not due to chance.
const MOST_REPEATED: usize = 5;

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
    for name in &tally.passed_alone {
        println!("flaky: {name} failed, and passed when it was repeated alone");
    }
    for (name, reason) in &tally.skipped_because {
        println!("skipped {name}: {reason}");
    }
    println!("{tally}");
    Ok(if good && tally.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn build_and_run(workspace: &Workspace, request: &Request, tally: &mut Tally) -> Result<bool> {
    let arguments = &request.arguments;
    // Tests mostly wait for guests to boot and trials to end.
    let at_once = 2 * std::thread::available_parallelism().map_or(1, NonZero::get);
    let run = |program: &Program, lines: &mut dyn FnMut(&str)| {
        eprintln!("starts: {}", program.name);
        program.run(arguments, lines)
    };
    let failed = thread::scope(|scope| {
        let (built, programs) = mpsc::channel();
        let building = scope.spawn(move || {
            programs::build(workspace, &request.package, &mut |program| {
                let program = if arguments.is_empty() { Some(program) } else { program.whole() };
                // The receiver is gone if another program could not be run.
                program.into_iter().for_each(|program| drop(built.send(program)));
            })
        });
        let failed = parallel::run(programs, at_once, &run, &mut |line| {
            print!("{line}");
            tally.read(line.trim_end());
        });
        building.join().expect("it does not panic").and(failed)
    });
    match failed {
        Ok(failed) if failed.is_empty() => Ok(true),
        Ok(failed) if arguments.is_empty() => repeat(&failed, tally),
        Ok(_) => Ok(false),
        Err(error) => {
            eprintln!("error: {error:#}");
            Ok(false)
        }
    }
}

/// Repeats each failed test alone. Returns whether all pass.
fn repeat(failed: &[Program], tally: &mut Tally) -> Result<bool> {
    if tally.failed > MOST_REPEATED {
        return Ok(false);
    }
    let mut all_pass = true;
    for program in failed {
        let names = tally.failures.get(&program.name).cloned().unwrap_or_default();
        // A program that ended without a summary has no names of failed tests.
        all_pass &= !names.is_empty();
        for name in names {
            println!("\nrepeats {name}");
            if program.run_only(&name, &mut |line| print!("{line}"))? {
                tally.pass_alone(name);
            } else {
                all_pass = false;
            }
        }
    }
    Ok(all_pass)
}
