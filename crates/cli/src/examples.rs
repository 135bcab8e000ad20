//! The examples on all help pages.

use clap::Command;

/// For each page: its name in brackets, then lines of the form `COMMAND # DESCRIPTION`.
const EXAMPLES: &str = include_str!("examples.txt");

type Example = (&'static str, &'static str);

pub(crate) fn on_every_page(tree: Command) -> Command {
    tree.mut_subcommands(|command| with_examples(command, ""))
}

fn with_examples(command: Command, above: &str) -> Command {
    let name = format!("{above}{}", command.get_name());
    let below = format!("{name} ");
    let command = command.mut_subcommands(|command| with_examples(command, &below));
    let Some((_, examples)) = pages().find(|(page, _)| *page == name) else { return command };
    let width = examples.iter().map(|(example, _)| example.len()).max().unwrap_or(0);
    let lines: Vec<String> =
        examples.iter().map(|(example, description)| line(example, description, width)).collect();
    let rest = command.get_after_help().map(|rest| format!("\n\n{rest}")).unwrap_or_default();
    command.after_help(format!("Examples:\n{}{rest}", lines.join("\n")))
}

fn pages() -> impl Iterator<Item = (&'static str, Vec<Example>)> {
    EXAMPLES.split("\n\n").filter_map(|page| {
        let (name, examples) = page.strip_prefix('[')?.split_once("]\n")?;
        Some((name, examples.lines().filter_map(|line| line.split_once(" # ")).collect()))
    })
}

fn line(example: &str, description: &str, width: usize) -> String {
    let line = format!("  {example:width$}  # {description}");
    if line.chars().count() <= 80 { line } else { format!("  {example}\n    # {description}") }
}

#[cfg(test)]
mod tests;
