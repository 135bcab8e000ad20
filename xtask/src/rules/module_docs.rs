//! Rule `module-docs`: every Rust file starts with `//!`.

use anyhow::Result;

use super::Verdict;
use crate::workspace::Workspace;

const ADVICE: &str = "start these files with a `//!` comment that describes their subject";

pub(crate) fn hold(workspace: &Workspace) -> Result<Verdict> {
    let mut places = Vec::new();
    for path in workspace.rust_files() {
        if !workspace.text(path)?.is_some_and(|text| begins_with_docs(&text)) {
            places.push(path.to_owned());
        }
    }
    Ok(Verdict::broken(ADVICE, places))
}

fn begins_with_docs(text: &str) -> bool {
    text.lines().next().and_then(|line| line.strip_prefix("//!")).is_some_and(|doc| !doc.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_line_must_be_a_nonempty_doc() {
        let cases = [
            ("//! Owns it.\n", true),
            ("//!\n", false),
            ("// Owns it.\n", false),
            ("\n//! Owns it.\n", false),
            ("use x;\n//! Owns it.", false),
            ("", false),
        ];
        for (text, expected) in cases {
            assert_eq!(begins_with_docs(text), expected, "{text:?}");
        }
    }
}
