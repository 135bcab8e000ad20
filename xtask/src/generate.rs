//! `cargo xtask generate`: writes the files that `plumb` prints and the list of findings in the docs' summary, and
//! builds the script of report pages.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, ensure};

use crate::script;
use crate::workspace::Workspace;

pub(crate) struct Generated {
    /// A path, optionally followed by `#` and the name of the part between `<!-- PART -->` and `<!-- /PART
    /// -->`.
    pub(crate) path: &'static str,
    pub(crate) verb: &'static str,
}

#[rustfmt::skip]
pub(crate) const GENERATED: &[Generated] = &[
    Generated { path: "docs/reference/scenario.schema.json", verb: "schema scenario" },
    Generated { path: "docs/guide/scenarios.md#lab-tables", verb: "schema lab-tables" },
    Generated { path: "docs/guide/scenarios.md#layers", verb: "schema layers" },
    Generated { path: "docs/reference/run.schema.json", verb: "schema run" },
    Generated { path: "docs/reference/findings.schema.json", verb: "schema findings" },
    Generated { path: "docs/reference/single.schema.json", verb: "schema single" },
    Generated { path: "docs/reference/comparison.schema.json", verb: "schema comparison" },
    Generated { path: "docs/reference/trace.schema.json", verb: "schema trace" },
    Generated { path: "docs/reference/trace-comparison.schema.json", verb: "schema trace-comparison" },
];

pub(crate) const SUMMARY: &str = "docs/SUMMARY.md";

/// Builds the script first, because plumb contains it.
pub(crate) fn run(workspace: &Workspace) -> Result<ExitCode> {
    match script::built(&workspace.root)? {
        Some(text) => {
            fs::write(workspace.root.join(script::BUILT), text)?;
            println!("wrote {}", script::BUILT);
        }
        None => println!("skip {}: no TypeScript compiler: {}", script::BUILT, script::INSTALL),
    }
    let plumb = workspace.plumb()?;
    for file in GENERATED {
        let text = file.printed_by(&plumb)?;
        file.write(&workspace.root, &text).with_context(|| format!("write {}", file.path))?;
        println!("wrote {}", file.path);
    }
    fs::write(workspace.root.join(SUMMARY), summary(&workspace.root)?)?;
    println!("wrote {SUMMARY}");
    Ok(ExitCode::SUCCESS)
}

/// Returns the summary of the docs, with a line for each finding's page.
pub(crate) fn summary(root: &Path) -> Result<String> {
    let mut ids = Vec::new();
    for page in fs::read_dir(root.join("docs/findings")).context("list docs/findings")? {
        let name = page?.file_name();
        ids.extend(name.to_str().and_then(|name| name.strip_suffix(".md")).map(str::to_owned));
    }
    ids.retain(|id| id != "README");
    ids.sort();
    let mut text = String::new();
    for line in fs::read_to_string(root.join(SUMMARY)).with_context(|| format!("read {SUMMARY}"))?.lines() {
        if line.starts_with("- [Findings]") {
            text += &format!("{line}\n");
            text.extend(ids.iter().map(|id| format!("  - [`{id}`](findings/{id}.md)\n")));
        } else if !line.starts_with("  - [`") {
            text += &format!("{line}\n");
        }
    }
    Ok(text)
}

impl Generated {
    pub(crate) fn stored_in(&self, root: &Path) -> Option<String> {
        let (path, part) = self.place();
        let text = fs::read_to_string(root.join(path)).ok()?;
        let Some([begin, end]) = part else { return Some(text) };
        let (_, rest) = text.split_once(&begin)?;
        rest.split_once(&end).map(|(part, _)| part.to_owned())
    }

    fn write(&self, root: &Path, text: &str) -> Result<()> {
        let (path, part) = self.place();
        let path = root.join(path);
        let Some([begin, end]) = part else {
            fs::create_dir_all(path.parent().context("a generated file has a folder")?)?;
            return Ok(fs::write(&path, text)?);
        };
        let whole = fs::read_to_string(&path)?;
        let (before, rest) = whole.split_once(&begin).with_context(|| format!("no `{}`", begin.trim()))?;
        let (_, after) = rest.split_once(&end).with_context(|| format!("no `{}`", end.trim()))?;
        Ok(fs::write(&path, format!("{before}{begin}{text}{end}{after}"))?)
    }

    fn place(&self) -> (&'static str, Option<[String; 2]>) {
        match self.path.split_once('#') {
            Some((path, part)) => (path, Some([format!("<!-- {part} -->\n"), format!("<!-- /{part} -->\n")])),
            None => (self.path, None),
        }
    }

    pub(crate) fn printed_by(&self, plumb: &Path) -> Result<String> {
        let mut command = Command::new(plumb);
        let output =
            command.args(self.verb.split(' ')).stdin(Stdio::null()).output().context("start plumb")?;
        let message = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "`plumb {}` failed: {}", self.verb, message.trim());
        String::from_utf8(output.stdout).with_context(|| format!("`plumb {}`", self.verb))
    }
}
