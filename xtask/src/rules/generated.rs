//! Rule `generated`: generated files are what `plumb` prints today. The list is in generate.rs.

use anyhow::Result;

use super::Verdict;
use crate::generate::{GENERATED, Generated};
use crate::workspace::Workspace;

/// Compares every generated file with what `plumb` prints.
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
        return Ok(Verdict::Skipped(format!("there is no {} yet", awaited.join(", no "))));
    }
    Ok(Verdict::broken("run `cargo xtask generate`", places))
}

#[derive(Debug, PartialEq)]
enum Standing {
    Current,
    /// Neither the file nor the verb exists yet.
    Awaited,
    Wrong(String),
}

fn judge(file: &Generated, stored: Option<&str>, printed: Option<&str>) -> Standing {
    let Generated { path, verb } = file;
    match (stored, printed) {
        (None, None) => Standing::Awaited,
        (Some(stored), Some(printed)) if stored == printed => Standing::Current,
        (Some(_), Some(_)) => Standing::Wrong(format!("{path} is not what `plumb {verb}` prints")),
        (None, Some(_)) => Standing::Wrong(format!("{path} is missing; `plumb {verb}` prints it")),
        (Some(_), None) => {
            Standing::Wrong(format!("{path} is there, but `plumb {verb}` is gone: mend generate.rs"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_awaited_only_while_its_verb_does_not_exist() {
        let file = Generated { path: "docs/a.json", verb: "a schema" };
        assert_eq!(judge(&file, None, None), Standing::Awaited);
        assert_eq!(judge(&file, Some("{}"), Some("{}")), Standing::Current);
        for (stored, printed) in [(Some("{}"), Some("[]")), (None, Some("{}")), (Some("{}"), None)] {
            assert!(matches!(judge(&file, stored, printed), Standing::Wrong(_)), "{stored:?} {printed:?}");
        }
    }
}
