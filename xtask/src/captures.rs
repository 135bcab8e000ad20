//! `cargo xtask captures`: captures terminal output of `plumb` for docs/guide/screens.md, docs/guide/tutorial.md and docs/cookbook.

mod tutorial;

use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::{env, fs};

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::workspace::Workspace;

#[derive(Args)]
pub(crate) struct Request {
    /// Capture only commands that start with this, or the `tutorial` or `cookbook`; repeatable
    #[arg(long, value_name = "COMMAND")]
    only: Vec<String>,
}

const SIZES: [(u16, u16); 2] = [(80, 24), (120, 40)];

/// More rows than any output has, so that nothing scrolls off before wrapped lines are found.
const PAPER: u16 = 20_000;

const LIVE: &[&str] = &["plumb run quick", "plumb client 127.0.0.1 -p 5299 -t 4"];
const LIVE_SIZES: [(u16, u16); 2] = [(80, 24), (160, 50)];
const FRAME_ENDS: &[u8] = b"\x1b[39m\x1b[49m\x1b[59m\x1b[0m";
const LEAVES: &[u8] = b"\x1b[?1049l";
/// If there are no frames, this sequence marks a row that is being overwritten.
const ROW_ENDS: &[u8] = b"\x1b[K";
const SHOWN: f64 = 0.7;

const PAGE: &str = "docs/guide/screens.md";
const HEAD: &str = "# Screens\n\nThis page shows the last lines of each command's output on a terminal with 80 columns \
                    and 24 rows. Click on \"120x40\" to see it with 120 columns and 40 rows. `cargo xtask captures` writes \
                    this page, and fails if a line wraps or is cut.\n";

/// Later commands may use the runs of earlier ones.
const COMMANDS: &[&str] = &[
    "plumb doctor",
    "plumb scenario list",
    "plumb run quick",
    "plumb import crates/import/tests/data/vhost-net.md",
    "plumb client 127.0.0.1 -p 5299 -t 1 --repeat 5",
    "plumb ping 127.0.0.1 -p 5299 -t 1 --repeat 5",
    "plumb trace -- plumb ping 127.0.0.1 -p 5299 -t 1 --no-keep",
    "plumb runs",
];

pub(crate) fn run(workspace: &Workspace, request: &Request) -> Result<ExitCode> {
    let plumb = workspace.plumb()?;
    let stage = Stage::set(&plumb, &workspace.root)?;
    let path = workspace.root.join(PAGE);
    let before = fs::read_to_string(&path).unwrap_or_default();
    let mut page = String::from(HEAD);
    let mut spoiled = false;
    let is_wanted = |title: &str| {
        request.only.is_empty() || request.only.iter().any(|only| title.starts_with(only.as_str()))
    };
    for command in COMMANDS {
        let section = if is_wanted(command) {
            let (section, faults) = stage.section(command)?;
            faults.iter().for_each(|fault| println!("FAIL {command}: {fault}"));
            spoiled |= !faults.is_empty();
            section
        } else {
            kept(&before, &heading(command)).unwrap_or_default()
        };
        page.push_str(&section);
    }
    for command in LIVE {
        let section = match is_wanted(&live_title(command)) {
            true => stage.live_section(command)?,
            false => kept(&before, &live_heading(command)).unwrap_or_default(),
        };
        page.push_str(&section);
    }
    fs::write(&path, page).with_context(|| format!("write {PAGE}"))?;
    println!("wrote {PAGE}");
    for (word, page) in tutorial::pages(&workspace.root)? {
        if request.only.is_empty() || request.only.iter().any(|only| only == word) {
            spoiled |= !tutorial::write(&stage, &page)?;
        }
    }
    Ok(if spoiled { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn heading(command: &str) -> String {
    format!("\n## `{command}`\n")
}

fn live_title(command: &str) -> String {
    format!("{command}, while it runs")
}

fn live_heading(command: &str) -> String {
    format!("\n## `{command}`, while it runs\n")
}

fn kept(page: &str, heading: &str) -> Option<String> {
    let (_, rest) = page.split_once(heading)?;
    let end = rest.find("\n## ").unwrap_or(rest.len());
    Some(format!("{heading}{}", &rest[..end]))
}

struct Stage<'a> {
    home: tempfile::TempDir,
    path: String,
    root: &'a Path,
    server: Child,
}

impl<'a> Stage<'a> {
    fn set(plumb: &Path, root: &'a Path) -> Result<Self> {
        let folder = plumb.parent().context("a program has a folder")?.display();
        let path = format!("{folder}:{}", env::var("PATH").unwrap_or_default());
        let home = tempfile::tempdir()?;
        let mut server = Command::new(plumb);
        server.args(["server", "--bind", "127.0.0.1", "--port", "5299"]).current_dir(home.path());
        let server = server.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        Ok(Self { home, path, root, server })
    }

    fn section(&self, command: &str) -> Result<(String, Vec<String>)> {
        let (mut section, mut faults) = (heading(command), Vec::new());
        for (size, (columns, rows)) in SIZES.into_iter().enumerate() {
            println!("{columns}x{rows} {command}");
            let lines = lines(&self.typed(command, columns, rows, self.root)?, columns);
            faults.extend(lines.iter().filter_map(|line| line.fault(columns)));
            let shown: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
            // The prompt is in the last row.
            let last = shown.len().saturating_sub(usize::from(rows) - 1);
            let screen = format!("{}\n$", shown[last..].join("\n"));
            section.push_str(&framed(&screen, (columns, rows), size == 0));
        }
        Ok((section, faults))
    }

    fn live_section(&self, command: &str) -> Result<String> {
        let mut section = live_heading(command);
        for (size, (columns, rows)) in LIVE_SIZES.into_iter().enumerate() {
            println!("{columns}x{rows} {}", live_title(command));
            let written = self.typed(command, columns, rows, self.root)?;
            let mut terminal = vt100::Parser::new(rows, columns, 0);
            terminal.process(until_shown(&written).context("there was no live view")?);
            let screen: Vec<String> =
                terminal.screen().rows(0, columns).map(|row| row.trim_end().to_owned()).collect();
            section.push_str(&framed(&screen.join("\n"), (columns, rows), size == 0));
        }
        Ok(section)
    }

    fn typed(&self, command: &str, columns: u16, rows: u16, folder: &Path) -> Result<Vec<u8>> {
        let sized = format!("stty columns {columns} rows {rows}; {command}");
        let mut script = Command::new("script");
        script.args(["--quiet", "--return", "--command", &sized, "/dev/null"]).current_dir(folder);
        script.env("PATH", &self.path).env("HOME", self.home.path()).env("TERM", "xterm-256color");
        script.env_remove("COLUMNS").env_remove("XDG_DATA_HOME").env("PAGER", "cat");
        let done = script.stdin(Stdio::null()).output().context("run `script` (of bsdutils)")?;
        let text = String::from_utf8_lossy(&done.stdout).into_owned();
        ensure!(done.status.success(), "`{command}` exited with {}:\n{text}", done.status);
        Ok(done.stdout)
    }
}

impl Drop for Stage<'_> {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn until_shown(written: &[u8]) -> Option<&[u8]> {
    let places = |of: &'static [u8]| (0..written.len()).filter(move |at| written[*at..].starts_with(of));
    let (end, leaves) = match places(LEAVES).next() {
        Some(leaves) => (FRAME_ENDS, leaves),
        None => (ROW_ENDS, written.len()),
    };
    // A row that was just erased is not a frame.
    let shown = |at: &usize| *at < leaves && !written[..*at].ends_with(b"\r");
    let frames: Vec<usize> = places(end).filter(shown).collect();
    let last = frames.get((frames.len() as f64 * SHOWN) as usize)?;
    written.get(..last + end.len())
}

fn framed(screen: &str, (columns, rows): (u16, u16), is_open: bool) -> String {
    let screen = format!("\n```text\n{screen}\n```\n");
    if is_open {
        return screen;
    }
    format!("\n<details><summary>{columns}x{rows}</summary>\n{screen}\n</details>\n")
}

struct Line {
    text: String,
    wrapped: bool,
}

impl Line {
    fn fault(&self, columns: u16) -> Option<String> {
        match (self.wrapped, self.text.trim_end().ends_with('…')) {
            (true, _) => Some(format!("wraps at {columns} columns: {}", self.text)),
            (_, true) => Some(format!("is cut at {columns} columns: {}", self.text)),
            _ => None,
        }
    }
}

fn lines(written: &[u8], columns: u16) -> Vec<Line> {
    let mut terminal = vt100::Parser::new(PAPER, columns, 0);
    terminal.process(written);
    let screen = terminal.screen();
    // The terminal still reports a row as wrapped if it was full at some point, e.g. with a progress bar.
    let is_full = |text: &str| text.chars().count() + 1 >= usize::from(columns);
    let row = |(place, text): (u16, String)| {
        let text = text.trim_end().to_owned();
        Line { wrapped: screen.row_wrapped(place) && is_full(&text), text }
    };
    let mut lines: Vec<Line> = (0..).zip(screen.rows(0, columns)).map(row).collect();
    let used = lines.iter().rposition(|line| !line.text.is_empty()).map_or(0, |last| last + 1);
    lines.truncate(used);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_wrapped_lines_in_the_final_screen() {
        let read = lines(b"12 %\r\x1b[K\x1b[1mdone\x1b[0m\r\n0123456789abc\r\nname\xe2\x80\xa6\r\n", 10);
        let texts: Vec<&str> = read.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(texts, ["done", "0123456789", "abc", "name…"]);
        let faults: Vec<String> = read.iter().filter_map(|line| line.fault(10)).collect();
        assert_eq!(faults, ["wraps at 10 columns: 0123456789", "is cut at 10 columns: name…"]);
    }

    #[test]
    fn captures_a_live_view_at_the_end_of_a_frame() {
        let end = "\x1b[39m\x1b[49m\x1b[59m\x1b[0m";
        let written = format!("\x1b[?1049hone{end}two{end}three{end}\x1b[?1049lsummary{end}");
        let shown = until_shown(written.as_bytes()).expect("there are frames");
        assert!(shown.ends_with(format!("three{end}").as_bytes()), "{}", String::from_utf8_lossy(shown));
        assert_eq!(until_shown(b"plain"), None);
        // The end of each row is overwritten.
        let rows = b"\r1\x1b[K\r2\x1b[K\r\x1b[Kline\r\n\r3\x1b[K\r\x1b[Kline\r\n";
        assert!(until_shown(rows).is_some_and(|shown| shown.ends_with(b"\r3\x1b[K")));
    }

    #[test]
    fn keeps_a_section_unchanged() {
        let page = format!("{HEAD}{}one\n{}two\n", heading("plumb a"), heading("plumb b"));
        assert_eq!(kept(&page, &heading("plumb a")), Some(format!("{}one\n", heading("plumb a"))));
        assert_eq!(kept(&page, &heading("plumb b")), Some(format!("{}two\n", heading("plumb b"))));
        assert_eq!(kept(&page, &heading("plumb c")), None);
    }
}
