//! Replays the tutorial and the cookbook's pages, each in an empty folder: types the text after `$` in `console`
//! blocks, and replaces the remainder of the block with the output. A block that starts with `toml FILE` is appended
//! to FILE.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use super::{Line, Stage, lines};

const COOKBOOK: &str = "docs/cookbook";
const COLUMNS: u16 = 80;
const ROWS: u16 = 24;

/// Pages, each with the word that selects it.
pub(super) fn pages(root: &Path) -> Result<Vec<(&'static str, String)>> {
    let mut pages = vec![("tutorial", "docs/guide/tutorial.md".to_owned())];
    for entry in fs::read_dir(root.join(COOKBOOK))? {
        let name = entry?.file_name().into_string().ok().context("pages have plain names")?;
        if name != "README.md" {
            pages.push(("cookbook", format!("{COOKBOOK}/{name}")));
        }
    }
    pages.sort();
    Ok(pages)
}

pub(super) fn write(stage: &Stage<'_>, name: &str) -> Result<bool> {
    let path = stage.root.join(name);
    let folder = tempfile::tempdir()?;
    let mut faults = Vec::new();
    let text = fs::read_to_string(&path).with_context(|| format!("read {name}"))?;
    let page = renewed(&text, folder.path(), &mut |command| {
        println!("{COLUMNS}x{ROWS} {command}");
        // The pages also show mistakes, so commands may fail.
        let typed = stage.typed(&format!("{command} || true"), COLUMNS, ROWS, folder.path())?;
        let shown = lines(&typed, COLUMNS);
        faults.extend(shown.iter().filter_map(|line| Some(format!("{command}: {}", line.fault(COLUMNS)?))));
        Ok(shown)
    })?;
    fs::write(&path, page).with_context(|| format!("write {name}"))?;
    println!("wrote {name}");
    faults.iter().for_each(|fault| println!("FAIL {fault}"));
    Ok(faults.is_empty())
}

/// `typed` runs a command and returns its output. `console last=N` shows the last N rows.
fn renewed(page: &str, folder: &Path, typed: &mut dyn FnMut(&str) -> Result<Vec<Line>>) -> Result<String> {
    let (mut out, mut rows) = (String::new(), page.lines());
    while let Some(row) = rows.next() {
        writeln!(out, "{row}")?;
        let Some(info) = row.strip_prefix("```").filter(|info| !info.is_empty()) else { continue };
        let block: Vec<&str> = rows.by_ref().take_while(|row| *row != "```").collect();
        match info.split_once(' ').unwrap_or((info, "")) {
            ("console", last) => {
                let last = last.strip_prefix("last=").map(str::parse).transpose()?;
                for command in block.iter().filter_map(|row| row.strip_prefix("$ ")) {
                    let shown = typed(command)?;
                    // The next update would type such a line.
                    let is_typed = |line: &Line| line.text.starts_with("$ ");
                    ensure!(
                        !shown.iter().any(is_typed),
                        "`{command}` prints a line that looks like a command"
                    );
                    let skipped = last.map_or(0, |last: usize| shown.len().saturating_sub(last));
                    writeln!(out, "$ {command}")?;
                    shown[skipped..].iter().try_for_each(|line| writeln!(out, "{}", line.text))?;
                }
            }
            ("toml", file) if !file.is_empty() => {
                let text = block.join("\n");
                let mut file = fs::OpenOptions::new().create(true).append(true).open(folder.join(file))?;
                write!(file, "\n{text}\n")?;
                writeln!(out, "{text}")?;
            }
            (_, "") => block.iter().try_for_each(|row| writeln!(out, "{row}"))?,
            (kind, rest) => bail!("unknown block `{kind} {rest}`"),
        }
        writeln!(out, "```")?;
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_commands_and_appends_to_files() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.toml"), "one = 1\n").unwrap();
        let page = "# T\n```console last=1\n$ first\nold\n$ second\n```\n```toml a.toml\ntwo = 2\n```\n```text\nkept\n```\nend\n";
        let mut asked = Vec::new();
        let renewed = renewed(page, folder.path(), &mut |command| {
            asked.push(command.to_owned());
            Ok(["a", "b"].map(|text| Line { text: text.into(), wrapped: false }).into())
        });
        let want = "# T\n```console last=1\n$ first\nb\n$ second\nb\n```\n```toml a.toml\ntwo = 2\n```\n```text\nkept\n```\nend\n";
        assert_eq!((renewed.unwrap().as_str(), asked), (want, vec!["first".to_owned(), "second".to_owned()]));
        let command = |_: &str| Ok(vec![Line { text: "$ reboot".into(), wrapped: false }]);
        assert!(super::renewed("```console\n$ print\n```\n", folder.path(), &mut { command }).is_err());
        assert_eq!(fs::read_to_string(folder.path().join("a.toml")).unwrap(), "one = 1\n\ntwo = 2\n");
    }
}
