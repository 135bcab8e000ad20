//! `cargo xtask check`: checks the tree against every rule.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use clap::builder::PossibleValuesParser;

use crate::rules::{RULES, Verdict};
use crate::workspace::Workspace;

#[derive(Args)]
pub(crate) struct Request {
    /// Check only this rule; repeatable
    #[arg(long, value_name = "RULE", value_parser = rule_names())]
    only: Vec<String>,
}

pub(crate) fn run(workspace: &Workspace, request: &Request) -> Result<ExitCode> {
    let chosen = |name: &str| request.only.is_empty() || request.only.iter().any(|only| only == name);
    let mut failed = 0;
    for rule in RULES.iter().filter(|rule| chosen(rule.name)) {
        let verdict = (rule.hold)(workspace).unwrap_or_else(|error| Verdict::failed(&error));
        println!("{}", line(rule.name, &verdict));
        failed += u32::from(matches!(verdict, Verdict::Broken { .. }));
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn rule_names() -> PossibleValuesParser {
    PossibleValuesParser::new(RULES.iter().map(|rule| rule.name))
}

fn line(name: &str, verdict: &Verdict) -> String {
    match verdict {
        Verdict::Held => format!("ok   {name}"),
        Verdict::Skipped(reason) => format!("skip {name}: {reason}"),
        Verdict::Broken { advice, places } => {
            let places: String = places.iter().map(|place| format!("\n       {place}")).collect();
            format!("FAIL {name}: {advice}{places}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_advice_and_places_of_a_broken_rule() {
        let verdict = Verdict::broken("shorten it", vec!["a.rs".into(), "b.rs".into()]);
        assert_eq!(line("file-size", &verdict), "FAIL file-size: shorten it\n       a.rs\n       b.rs");
        assert_eq!(line("file-size", &Verdict::broken("shorten it", vec![])), "ok   file-size");
    }
}
