//! Tests that commands have examples, and that these are valid.

use super::*;
use crate::args::Args;
use clap::CommandFactory;

fn names(command: &Command, above: &str) -> Vec<String> {
    let visible = command.get_subcommands().filter(|command| !command.is_hide_set());
    visible
        .flat_map(|command| {
            let name = format!("{above}{}", command.get_name());
            let below = names(command, &format!("{name} "));
            [name].into_iter().chain(below)
        })
        .collect()
}

#[test]
fn every_command_has_two_examples() {
    let names = names(&Args::command(), "");
    for name in &names {
        let page = pages().find(|(page, _)| page == name);
        assert!(page.is_some_and(|(_, examples)| examples.len() >= 2), "{name}");
    }
    for (page, _) in pages() {
        assert!(names.iter().any(|known| known == page), "{page}");
    }
}

#[test]
fn every_line_is_a_name_or_an_example() {
    let lines = EXAMPLES.lines().filter(|line| !line.is_empty()).count();
    assert_eq!(pages().map(|(_, examples)| 1 + examples.len()).sum::<usize>(), lines);
}

#[test]
fn every_example_parses() {
    for (example, _) in pages().flat_map(|(_, examples)| examples) {
        let own = example.split(['>', '|']).next().unwrap_or_default();
        let parsed = Args::command().try_get_matches_from(own.split_whitespace());
        assert!(parsed.is_ok(), "{example}: {}", parsed.expect_err("rejected"));
    }
}
