//! Rule `generated`: generated files are up to date with `plumb`.

use anyhow::Result;

use super::Verdict;
use crate::generate::{GENERATED, Generated};
use crate::workspace::Workspace;

pub(crate) fn hold(workspace: &Workspace) -> Result<Verdict> {
    let plumb = workspace.plumb()?;
    let mut places = Vec::new();
    let mut awaited = Vec::new();
    for file in GENERATED {
        let stored = file.stored_in(&workspace.root);
        match judge(file, stored.as_deref(), file.printed_by(&plumb)?.as_deref()) {
            Standing::Current => {}
            Standing::Awaited => awaited.push(format!("`plumb {}`", file.verb)),
            Standing::Wrong(place) => places.push(place),
        }
    }
    if places.is_empty() && !awaited.is_empty() {
        return Ok(Verdict::Skipped(format!("{} does not exist yet", awaited.join(", "))));
    }
    Ok(Verdict::broken("run `cargo xtask generate`", places))
}

#[derive(Debug, PartialEq)]
enum Standing {
    Current,
    Awaited,
    Wrong(String),
}

fn judge(file: &Generated, stored: Option<&str>, printed: Option<&str>) -> Standing {
    let Generated { path, verb } = file;
    match (stored, printed) {
        (None, None) => Standing::Awaited,
        (Some(stored), Some(printed)) if stored == printed => Standing::Current,
        (Some(_), Some(_)) => Standing::Wrong(format!(
            "{path} differs from the output of `plumb {verb}`; run `cargo xtask generate`"
        )),
        (None, Some(_)) => Standing::Wrong(format!("{path} is missing; `plumb {verb}` prints it")),
        (Some(_), None) => {
            Standing::Wrong(format!("{path} exists, but `plumb {verb}` does not; update generate.rs"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_may_be_missing_only_without_its_verb() {
        let file = Generated { path: "docs/a.json", verb: "a schema" };
        assert_eq!(judge(&file, None, None), Standing::Awaited);
        assert_eq!(judge(&file, Some("{}"), Some("{}")), Standing::Current);
        for (stored, printed) in [(Some("{}"), Some("[]")), (None, Some("{}")), (Some("{}"), None)] {
            assert!(matches!(judge(&file, stored, printed), Standing::Wrong(_)), "{stored:?} {printed:?}");
        }
    }
}
