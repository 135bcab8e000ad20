//! Writes the brief form of a page for a terminal, wrapped to its width and optionally coloured.

mod table;
mod wrap;

use console::{Style, measure_text_width};

use self::wrap::{Line, indented, wrap};
use super::bars;
use crate::{
    page::{Page, *},
    render::Options,
    text::{Span, glued},
};

const NARROWEST: usize = 60;
const INDENT: usize = 2;
const PROMPT: &str = "  $ ";

pub(crate) fn wrapped_lines(text: &Text, width: usize) -> usize {
    wrap(text, width).len()
}

/// No line exceeds the configured width, except for overlong words in commands.
pub(crate) fn terminal(page: &Page, options: &Options) -> String {
    let width = options.width.max(NARROWEST);
    let mut lines = wrap(&Text::strong(&page.title), width);
    let mut page = page.clone();
    // Do not wrap a quoted path at its spaces.
    if let Some(flag) = &options.database.as_ref().map(|flag| glued(flag)) {
        page.sections.iter_mut().flat_map(|section| &mut section.blocks).for_each(|block| name(block, flag));
    }
    for section in page.sections.iter().filter(|section| section.depth != Depth::OnlyFull) {
        lines.extend(self::section(section, width));
    }
    lines.iter().map(|line| painted(line, options.colour) + "\n").collect()
}

/// Adds the `--db` flag to commands that read stored runs.
#[must_use]
pub fn with_database(command: &str, flag: &str) -> String {
    const READERS: &str = "check compare explain plot report run runs";
    let reads_runs = |arguments: &&str| {
        let subcommand = arguments.split(' ').next();
        READERS.split(' ').any(|reader| subcommand == Some(reader))
    };
    match command.strip_prefix("plumb ").filter(reads_runs) {
        Some(arguments) => format!("plumb {flag} {arguments}"),
        None => command.to_owned(),
    }
}

fn name(block: &mut Block, flag: &str) {
    let name_in = |text: &mut Text| {
        let commands = text.0.iter_mut().filter(|span| span.tone == Tone::Code);
        commands.for_each(|span| span.text = with_database(&span.text, flag));
    };
    match block {
        Block::Commands(commands) => {
            commands.iter_mut().for_each(|command| *command = with_database(command, flag));
        }
        Block::Paragraph(text) => name_in(text),
        Block::KeyValues(pairs) => pairs.iter_mut().for_each(|(_, text)| name_in(text)),
        _ => {}
    }
}

fn section(section: &Section, width: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    if let Some(title) = &section.title {
        lines.push(Line::new());
        lines.extend(wrap(&Text::strong(title), width));
    }
    let indent = if section.title.is_some() { INDENT } else { 0 };
    let mut shown: Vec<&Block> = section.blocks.iter().filter(|block| !is_only_seen(block)).collect();
    // Drop trailing headings of charts that a terminal cannot show.
    while shown.pop_if(|last| matches!(last, Block::Heading(_))).is_some() {}
    for (index, block) in shown.into_iter().enumerate() {
        if index > 0 && matches!(block, Block::Heading(_) | Block::Claim { .. }) {
            lines.push(Line::new());
        }
        lines.extend(indented(self::block(block, width - indent), indent));
    }
    lines
}

fn is_only_seen(block: &Block) -> bool {
    matches!(block, Block::Chart(chart) if chart.plain.is_none())
}

fn block(block: &Block, width: usize) -> Vec<Line> {
    match block {
        Block::Heading(text) | Block::Paragraph(text) => wrap(text, width),
        // Show the rule's ID for use with `plumb explain`.
        Block::Claim { id, text } => wrap(&text.clone().and_faint(format!(" [{id}]")), width),
        Block::Table(table) | Block::Results { table, .. } => table::lay_out(table, width),
        Block::Chart(chart) => {
            let hang = |line: &Text| wrap::hanging(line, width);
            let bars = chart.plain.iter().flat_map(|bars| bars::draw(bars, width));
            bars.collect::<Vec<_>>().iter().flat_map(hang).collect()
        }
        Block::Commands(commands) => {
            commands.iter().flat_map(|command| self::command(command, width)).collect()
        }
        Block::Folded { .. } => Vec::new(),
        Block::List(items) => items.iter().flat_map(|item| bullet(item, width)).collect(),
        Block::KeyValues(pairs) => table::key_values(pairs, width),
    }
}

fn bullet(item: &Text, width: usize) -> Vec<Line> {
    let mut lines = indented(wrap(item, width - INDENT), INDENT);
    if let Some(first) = lines.first_mut().and_then(|line| line.first_mut()) {
        "• ".clone_into(&mut first.text);
    }
    lines
}

/// Splits a long command with backslashes and moves its comment to the front, so that users can still copy the command.
fn command(command: &str, width: usize) -> Vec<Line> {
    if measure_text_width(command) + PROMPT.len() <= width {
        return vec![Text::code(format!("{PROMPT}{command}")).0];
    }
    let (typed, comment) = command.split_once(" # ").unwrap_or((command, ""));
    let phrase = wrap(&Text::faint(comment), width - PROMPT.len());
    let phrase = phrase.into_iter().filter(|line| !line.is_empty());
    let commented = |line: Line| [Text::faint("  # ").0, line].concat();
    phrase.map(commented).chain(continued(typed, width)).collect()
}

fn continued(command: &str, width: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut line = PROMPT.trim_end().to_owned();
    for word in command.split(' ').filter(|word| !word.is_empty()) {
        // Leave room for the space before the word and the backslash after it.
        let needed = measure_text_width(&line) + 1 + measure_text_width(word) + 2;
        if needed > width && line.len() > PROMPT.len() {
            lines.push(format!("{line} \\"));
            line = "     ".to_owned();
        }
        line += &format!(" {word}");
    }
    lines.push(line);
    lines.into_iter().map(|line| Text::code(line).0).collect()
}

fn painted(line: &[Span], colour: bool) -> String {
    let line: String = line.iter().map(|span| paint(span, colour)).collect();
    line.trim_end().to_owned()
}

fn paint(span: &Span, colour: bool) -> String {
    let text = span.printed();
    let style = Style::new().force_styling(true);
    let style = match span.tone {
        _ if !colour => return text,
        Tone::Plain => return text,
        Tone::Strong => style.bold(),
        Tone::Code => style.cyan(),
        Tone::Good => style.green(),
        Tone::Bad => style.red(),
        Tone::Doubtful => style.yellow(),
        Tone::Faint => style.dim(),
    };
    style.apply_to(text).to_string()
}
