//! Tests that commands have examples, and that these are valid.

use super::*;
use crate::args::Args;
use clap::CommandFactory;

fn pages(command: &Command, above: &str) -> Vec<String> {
    let visible = command.get_subcommands().filter(|command| !command.is_hide_set());
    visible
        .flat_map(|command| {
            let name = format!("{above}{}", command.get_name());
            let below = pages(command, &format!("{name} "));
            [name].into_iter().chain(below)
        })
        .collect()
}

#[test]
fn every_command_has_two_examples() {
    let pages = pages(&Args::command(), "");
    for page in &pages {
        let examples = EXAMPLES.iter().find(|(name, _)| name == page);
        assert!(examples.is_some_and(|(_, examples)| examples.len() >= 2), "{page}");
    }
    for (page, _) in EXAMPLES {
        assert!(pages.iter().any(|known| known == page), "{page}");
    }
}

#[test]
fn every_example_parses() {
    for (example, _) in EXAMPLES.iter().flat_map(|(_, examples)| *examples) {
        let own = example.split(['>', '|']).next().unwrap_or_default();
        let parsed = Args::command().try_get_matches_from(own.split_whitespace());
        assert!(parsed.is_ok(), "{example}: {}", parsed.expect_err("rejected"));
    }
}
