//! `cargo xtask generate`: writes the files that `plumb` prints, and builds the script of report pages. Owns the list
//! of files.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, ensure};

use crate::script;
use crate::workspace::Workspace;

/// A file or part of a file printed by `plumb`.
pub(crate) struct Generated {
    /// The file, and after `#` the part between `<!-- PART -->` and `<!-- /PART -->`.
    pub(crate) path: &'static str,
    /// The arguments of `plumb` that print it.
    pub(crate) verb: &'static str,
}

/// All generated files.
#[rustfmt::skip]
pub(crate) const GENERATED: &[Generated] = &[
    Generated { path: "docs/reference/scenario.schema.json", verb: "schema scenario" },
    Generated { path: "docs/guide/scenarios.md#lab-tables", verb: "schema lab-tables" },
    Generated { path: "docs/guide/scenarios.md#layers", verb: "schema layers" },
    Generated { path: "docs/reference/run.schema.json", verb: "schema run" },
    Generated { path: "docs/reference/findings.schema.json", verb: "schema findings" },
    Generated { path: "docs/reference/solo.schema.json", verb: "schema solo" },
    Generated { path: "docs/reference/contrast.schema.json", verb: "schema contrast" },
    Generated { path: "docs/reference/check.schema.json", verb: "schema check" },
    Generated { path: "docs/reference/trace.schema.json", verb: "schema trace" },
    Generated { path: "docs/reference/trace-contrast.schema.json", verb: "schema trace-contrast" },
];

/// Writes all of them; the script first, because plumb contains it.
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
    Ok(ExitCode::SUCCESS)
}

impl Generated {
    /// The current contents, if any.
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

    /// The file, and the text before and after the part.
    fn place(&self) -> (&'static str, Option<[String; 2]>) {
        match self.path.split_once('#') {
            Some((path, part)) => (path, Some([format!("<!-- {part} -->\n"), format!("<!-- /{part} -->\n")])),
            None => (self.path, None),
        }
    }

    /// The output of `plumb`.
    ///
    /// # Errors
    /// `plumb` fails, or its output is not UTF-8.
    pub(crate) fn printed_by(&self, plumb: &Path) -> Result<String> {
        let mut command = Command::new(plumb);
        let output =
            command.args(self.verb.split(' ')).stdin(Stdio::null()).output().context("start plumb")?;
        let message = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "`plumb {}` failed: {}", self.verb, message.trim());
        String::from_utf8(output.stdout).with_context(|| format!("`plumb {}`", self.verb))
    }
}
