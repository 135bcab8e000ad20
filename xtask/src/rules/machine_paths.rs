//! Rule `machine-paths`: no file mentions a particular machine.

use std::path::Path;

use anyhow::Result;

use super::Verdict;
use crate::workspace::Workspace;

const ADVICE: &str = "use a path relative to the project, or a standard name";

/// These folders exist everywhere, so a checkout below them does not identify a machine.
const STANDARD: &[&str] = &["dev", "etc", "mnt", "opt", "proc", "run", "srv", "sys", "usr", "var"];

const NEEDED: &[(&str, &str)] = &[];

pub(crate) fn hold(workspace: &Workspace) -> Result<Verdict> {
    let own = marks_of_this_machine(&workspace.root);
    let mut places = Vec::new();
    for path in workspace.files.iter().filter(|path| NEEDED.iter().all(|(needed, _)| needed != path)) {
        let text = workspace.text(path)?.unwrap_or_default();
        for (at, line) in text.lines().enumerate() {
            if let Some(mark) = mark_in(line, path.ends_with(".rs"), &own) {
                places.push(format!("{path}:{}: {mark}", at + 1));
            }
        }
    }
    Ok(Verdict::broken(ADVICE, places))
}

fn mark_in<'a>(line: &str, is_code: bool, own: &'a [String]) -> Option<&'a str> {
    let homes = ["home", "root", "Users"].map(|name| format!("/{name}/"));
    let home = homes.iter().any(|path| is_separate(line, path)).then_some("home folder");
    let scratch = (!is_code && is_separate(line, concat!("/", "tmp/"))).then_some("scratch folder");
    let mine = own.iter().find(|mark| is_separate(line, mark)).map(String::as_str);
    home.or(scratch).or(mine)
}

fn is_separate(line: &str, path: &str) -> bool {
    let joins =
        |before: char| before.is_alphanumeric() || matches!(before, '_' | '-' | '.' | '}' | ')' | '*');
    line.match_indices(path).any(|(at, _)| !line[..at].chars().next_back().is_some_and(joins))
}

fn marks_of_this_machine(root: &Path) -> Vec<String> {
    let top = root.iter().nth(1).and_then(|part| part.to_str());
    let ours = top.filter(|name| !STANDARD.contains(name) && *name != "tmp").map(|name| format!("/{name}/"));
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    // A host name may also be an ordinary word.
    let host = Some(host.trim().to_owned())
        .filter(|name| name.len() > 7 && name.contains(|c: char| c.is_ascii_digit()));
    ours.into_iter().chain(host).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_machine_paths_but_not_project_paths() {
        let own = vec!["/builds/".to_owned()];
        let cases = [
            (["see ", "/", "home/x"].concat(), Some("home folder")),
            (["`", "/", "root/x`"].concat(), Some("home folder")),
            (["at ", "/", "tmp/x"].concat(), Some("scratch folder")),
            ("in /builds/plumb".to_owned(), Some("/builds/")),
            ("docs/home/page.md".to_owned(), None),
            ("$(OUT)/home/page.md".to_owned(), None),
        ];
        for (line, expected) in cases {
            assert_eq!(mark_in(&line, false, &own), expected, "{line}");
        }
        assert_eq!(mark_in(&["\"/", "tmp/x\""].concat(), true, &own), None);
    }
}
