//! Rule `script`: the script of report pages is up to date with its TypeScript source.

use std::fs;

use anyhow::Result;

use super::Verdict;
use crate::script::{BUILT, INSTALL, built};
use crate::workspace::Workspace;

pub(crate) fn hold(workspace: &Workspace) -> Result<Verdict> {
    let stored = fs::read_to_string(workspace.root.join(BUILT)).ok();
    Ok(judge(stored.as_deref(), built(&workspace.root)?.as_deref()))
}

fn judge(stored: Option<&str>, built: Option<&str>) -> Verdict {
    match built {
        None => Verdict::Skipped(format!("no TypeScript compiler: {INSTALL}")),
        Some(built) if stored == Some(built) => Verdict::Held,
        Some(_) => Verdict::broken(
            "run `cargo xtask generate`",
            vec![format!("{BUILT} differs from its built source; run `cargo xtask generate`")],
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_an_outdated_script() {
        assert!(matches!(judge(Some("a"), Some("a")), Verdict::Held));
        assert!(matches!(judge(Some("a"), None), Verdict::Skipped(_)));
        for stored in [Some("b"), None] {
            assert!(matches!(judge(stored, Some("a")), Verdict::Broken { .. }), "{stored:?}");
        }
    }
}
