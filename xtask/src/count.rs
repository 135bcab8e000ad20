//! `cargo xtask count`: prints figures that show whether the code is getting simpler.

pub(crate) mod circles;
mod names;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

use crate::declared::Declared;
use crate::kinds::KINDS;
use crate::matches;
use crate::rules::plain_words;
use crate::source::Source;
use crate::tokens;
use crate::workspace::Workspace;

#[derive(Args)]
pub(crate) struct Request {
    /// Count in this checkout instead, e.g. of an earlier commit
    #[arg(long, value_name = "DIR")]
    repo: Option<PathBuf>,
    /// Print only the number of tokens in each crate's non-test code, in the format of xtask/src/ceilings.rs
    #[arg(long)]
    tokens: bool,
    /// Also list the counted items
    #[arg(long)]
    list: bool,
}

pub(crate) fn run(workspace: &Workspace, request: &Request) -> Result<ExitCode> {
    let root = request.repo.as_ref().unwrap_or(&workspace.root);
    if request.tokens {
        let counts = tokens::count(root)?;
        for (krate, count) in &counts {
            println!("    (\"{krate}\", {count}, \"\"),");
        }
        println!("{} tokens in all", counts.values().sum::<usize>());
        return Ok(ExitCode::SUCCESS);
    }
    let source = Source::read(root)?;
    let lines = source.lines();
    section("Product lines, including comments, excluding tests", lines.values().sum());
    for (krate, lines) in lines {
        println!("{krate:12} {lines:6}");
    }
    for kind in KINDS {
        let declared = Declared::of(kind, &source);
        let found = matches::find(&declared, &source);
        section(&format!("Files outside its own that match on a {}", kind.name), found.len());
        for absent in declared.absent(&source) {
            println!("missing: {absent}");
        }
        for (file, places) in found {
            let shown = places.into_iter().map(|(line, place)| format!("{file}:{line}: {place}"));
            list(request, &shown.collect::<Vec<_>>());
        }
    }
    let named = names::without_noun(&source);
    section("Types named by participles or question words", named.len());
    println!("of {} types", names::types(&source).count());
    list(request, &named);
    let circles = circles::find(&source);
    section("Cycles of modules inside crates", circles.len());
    list(request, &circles);
    if request.repo.is_none() {
        let rates = plain_words::shown(workspace)?;
        section("Marker phrases per 1,000 words, by area and kind of text", rates.len());
        rates.iter().for_each(|rate| println!("{rate}"));
    }
    Ok(ExitCode::SUCCESS)
}

fn section(title: &str, count: usize) {
    println!("\n## {title}: {count}");
}

fn list(request: &Request, lines: &[String]) {
    for line in lines.iter().filter(|_| request.list) {
        println!("{line}");
    }
}
