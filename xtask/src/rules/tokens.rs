//! Rule `tokens`: no crate has more tokens than its ceiling in ceilings.rs, and no ceiling rises without a reason.

use std::collections::BTreeMap;
use std::process::Command;

use anyhow::Result;

use super::Verdict;
use crate::ceilings::CEILINGS;
use crate::tokens;
use crate::workspace::Workspace;

const ADVICE: &str = "remove code elsewhere in the crate, or raise its ceiling in xtask/src/ceilings.rs with the reason in the same \
                      line; `cargo xtask count --tokens` prints the numbers";
const TABLE: &str = "xtask/src/ceilings.rs";
/// A ceiling must be lowered once the measured value is more than one percent below it.
const SLACK: usize = 100;

type Table = BTreeMap<String, (usize, String)>;

pub(crate) fn hold(workspace: &Workspace) -> Result<Verdict> {
    let now =
        CEILINGS.iter().map(|(krate, most, reason)| ((*krate).to_owned(), (*most, (*reason).to_owned())));
    let now: Table = now.collect();
    let mut places = exceeded(&now, &tokens::count(&workspace.root)?);
    if let Some(before) = before(workspace) {
        places.extend(raised(&parse(&before), &now));
    }
    Ok(Verdict::broken(ADVICE, places))
}

fn exceeded(table: &Table, counts: &BTreeMap<String, usize>) -> Vec<String> {
    let of_crate = |(krate, count): (&String, &usize)| match table.get(krate) {
        None => Some(format!("{krate}: {count} tokens and no ceiling")),
        Some((most, _)) if count > most => Some(format!("{krate}: {count} tokens, the ceiling is {most}")),
        Some((most, _)) if count + most / SLACK < *most => {
            Some(format!("{krate}: {count} tokens; lower its ceiling from {most} to this number"))
        }
        Some(_) => None,
    };
    let gone = table.keys().filter(|krate| !counts.contains_key(*krate));
    counts.iter().filter_map(of_crate).chain(gone.map(|krate| format!("{krate}: no such crate"))).collect()
}

fn raised(before: &Table, now: &Table) -> Vec<String> {
    let of_crate = |(krate, (most, reason)): (&String, &(usize, String))| {
        let (earlier, earlier_reason) = before.get(krate)?;
        let is_unexplained = most > earlier && (reason.is_empty() || reason == earlier_reason);
        is_unexplained
            .then(|| format!("{krate}: ceiling raised from {earlier} to {most} without a new reason"))
    };
    now.iter().filter_map(of_crate).collect()
}

/// Returns the table before the uncommitted change, or before the last commit that changed it, or `None` if there is no
/// history.
fn before(workspace: &Workspace) -> Option<String> {
    let git = |args: &[&str]| {
        let output = Command::new("git")
            .args(["-c", "safe.directory=*"])
            .args(args)
            .current_dir(&workspace.root)
            .output();
        let output = output.ok().filter(|output| output.status.success())?;
        String::from_utf8(output.stdout).ok()
    };
    let now = workspace.text(TABLE).ok()??;
    let commits = git(&["log", "-n", "2", "--format=%H", "--", TABLE])?;
    let versions = commits.lines().filter_map(|commit| git(&["show", &format!("{commit}:{TABLE}")]));
    versions.into_iter().find(|version| *version != now)
}

fn parse(text: &str) -> Table {
    let of_line = |line: &str| {
        let fields = line.trim().strip_prefix("(\"")?.strip_suffix("\"),")?;
        let (krate, rest) = fields.split_once("\", ")?;
        let (most, reason) = rest.split_once(", \"")?;
        Some((krate.to_owned(), (most.replace('_', "").parse().ok()?, reason.to_owned())))
    };
    text.lines().filter_map(of_line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[(&str, usize, &str)]) -> Table {
        parse(
            &rows
                .iter()
                .map(|(krate, most, reason)| format!("    (\"{krate}\", {most}, \"{reason}\"),\n"))
                .collect::<String>(),
        )
    }

    #[test]
    fn counts_above_the_ceiling_or_far_below_it_are_reported() {
        let table = table(&[("a", 1000, ""), ("gone", 5, "")]);
        let report = |count| exceeded(&table, &[("a".to_owned(), count), ("gone".to_owned(), 5)].into());
        assert_eq!(report(1001), ["a: 1001 tokens, the ceiling is 1000"]);
        assert_eq!(report(989), ["a: 989 tokens; lower its ceiling from 1000 to this number"]);
        assert!(report(1000).is_empty() && report(990).is_empty());
        let other = exceeded(&table, &[("a".to_owned(), 1000), ("new".to_owned(), 1)].into());
        assert_eq!(other, ["new: 1 tokens and no ceiling", "gone: no such crate"]);
    }

    #[test]
    fn ceiling_rises_only_with_a_new_reason() {
        let before = table(&[("a", 1_000, ""), ("b", 1000, "IPv6")]);
        let rise = |a, b| raised(&before, &table(&[("a", 1001, a), ("b", 1001, b)])).len();
        assert_eq!([rise("", "IPv6"), rise("new probe", "IPv6"), rise("new probe", "QUIC")], [2, 1, 0]);
        assert!(raised(&before, &table(&[("a", 999, ""), ("b", 1000, "")])).is_empty());
    }

    #[test]
    fn table_in_the_source_is_parsed() {
        let parsed = parse(include_str!("../ceilings.rs"));
        assert_eq!(parsed.len(), CEILINGS.len());
        assert!(CEILINGS.iter().all(|(krate, most, _)| parsed[*krate].0 == *most));
    }
}
