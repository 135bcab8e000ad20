//! Rule `edges`: crates enter only the crates that the table names, and heavy crates stay in theirs.
//! Owns the comparison; the table itself, with its reasons, is in edges.rs.

use anyhow::Result;
use cargo_metadata::{DependencyKind, Metadata};

use super::Verdict;
use crate::edges::{CRATES, CrateRule, RESTRICTED, Restricted};
use crate::workspace::Workspace;

const ADVICE: &str = "take the arrow out, or change the table in xtask/src/edges.rs and say why";

/// Compares the workspace's manifests with the table.
pub(crate) fn hold(workspace: &Workspace) -> Result<Verdict> {
    Ok(Verdict::broken(ADVICE, violations(&Table::OURS, &Graph::of(&workspace.metadata))))
}

/// What is allowed.
struct Table<'a> {
    crates: &'a [CrateRule],
    kept: &'a [Restricted],
}

impl Table<'static> {
    const OURS: Self = Self { crates: CRATES, kept: RESTRICTED };
}

impl<'a> Table<'a> {
    fn rule(&self, name: &str) -> Option<&'a CrateRule> {
        self.crates.iter().find(|rule| rule.name == name)
    }
}

/// What is: the packages of the workspace and every line of their dependencies.
#[derive(Clone)]
struct Graph {
    packages: Vec<Package>,
    arrows: Vec<Arrow>,
}

#[derive(Clone)]
struct Package {
    name: String,
    manifest: String,
}

#[derive(Clone)]
struct Arrow {
    from: Package,
    to: String,
    kind: DependencyKind,
}

impl Graph {
    fn of(metadata: &Metadata) -> Self {
        let mut graph = Self { packages: Vec::new(), arrows: Vec::new() };
        for package in metadata.workspace_packages() {
            let path = &package.manifest_path;
            let manifest = path.strip_prefix(&metadata.workspace_root).unwrap_or(path).to_string();
            let from = Package { name: package.name.to_string(), manifest };
            let arrow = |to: &cargo_metadata::Dependency| Arrow {
                from: from.clone(),
                to: to.name.clone(),
                kind: to.kind,
            };
            graph.arrows.extend(package.dependencies.iter().map(arrow));
            graph.packages.push(from);
        }
        graph
    }

    fn has_package(&self, name: &str) -> bool {
        self.packages.iter().any(|package| package.name == name)
    }
}

/// Everything in the graph that the table does not allow, a line each.
fn violations(table: &Table, graph: &Graph) -> Vec<String> {
    let unknown = graph.packages.iter().filter(|package| table.rule(&package.name).is_none());
    let unknown =
        unknown.map(|Package { name, manifest }| format!("{manifest}: the table has no crate `{name}`"));
    let absent = table.crates.iter().filter(|rule| !graph.has_package(rule.name));
    let absent = absent.map(|rule| format!("the table has a crate `{}`, the workspace has not", rule.name));
    let arrows = graph.arrows.iter().filter_map(|arrow| {
        if graph.has_package(&arrow.to) {
            forbidden_room(table, arrow)
        } else {
            forbidden_crate(table, arrow)
        }
    });
    unknown.chain(absent).chain(arrows).collect()
}

fn forbidden_room(table: &Table, arrow: &Arrow) -> Option<String> {
    let from = table.rule(&arrow.from.name)?;
    let lower = table.rule(&arrow.to).is_some_and(|to| to.level < from.level);
    if from.may_use.contains(&arrow.to.as_str()) || arrow.kind == DependencyKind::Development && lower {
        return None;
    }
    let allowed = if from.may_use.is_empty() { "no crate".to_owned() } else { from.may_use.join(", ") };
    Some(format!("{}; `{}` may enter {allowed}: {}", described(arrow), from.name, from.why))
}

fn forbidden_crate(table: &Table, arrow: &Arrow) -> Option<String> {
    let kept = table.kept.iter().find(|kept| kept.krate == arrow.to)?;
    if kept.crates.contains(&arrow.from.name.as_str()) {
        return None;
    }
    Some(format!("{}; `{}` stays in {}: {}", described(arrow), kept.krate, kept.crates.join(", "), kept.why))
}

fn described(arrow: &Arrow) -> String {
    let section = match arrow.kind {
        DependencyKind::Development => "[dev-dependencies]",
        DependencyKind::Build => "[build-dependencies]",
        _ => "[dependencies]",
    };
    format!("{} -> {} in {} {section}", arrow.from.name, arrow.to, arrow.from.manifest)
}

#[cfg(test)]
mod tests {
    use DependencyKind::{Build, Development, Normal};
    use cargo_metadata::MetadataCommand;

    use super::*;

    fn todays_graph() -> Graph {
        Graph::of(&MetadataCommand::new().no_deps().exec().unwrap())
    }

    /// The violations that today's graph gets when one arrow is added to it.
    fn added(from: &str, to: &str, kind: DependencyKind) -> Vec<String> {
        let mut graph = todays_graph();
        let before = violations(&Table::OURS, &graph);
        let from = graph.packages.iter().find(|package| package.name == from).unwrap().clone();
        graph.arrows.push(Arrow { from, to: to.to_owned(), kind });
        let after = violations(&Table::OURS, &graph);
        after.into_iter().filter(|line| !before.contains(line)).collect()
    }

    #[test]
    fn the_house_keeps_to_its_edge_table() {
        let found = violations(&Table::OURS, &todays_graph());
        assert!(found.is_empty(), "{ADVICE}:\n{}", found.join("\n"));
    }

    #[test]
    fn an_arrow_that_the_table_lacks_is_found_with_file_and_reason() {
        let found = added("report", "stats", Normal);
        let expected = "report -> stats in crates/report/Cargo.toml [dependencies]; `report` may enter findings, workload, \
                        samples, units: a report shows numbers and computes none";
        assert_eq!(found, [expected]);
    }

    #[test]
    fn forbidden_arrows_and_crates_are_found_and_allowed_ones_are_not() {
        let cases = [
            ("agent", "lab", Normal, 1),
            ("units", "sys", Build, 1),
            ("cli", "agent", Normal, 1),
            ("lab", "store", Normal, 1),
            ("xtask", "units", Normal, 1),
            ("traffic", "tokio", Normal, 1),
            ("cli", "rusqlite", Normal, 1),
            ("probe", "libc", Development, 1),
            // Tests of a crate may look down, neither up nor sideways.
            ("report", "scenario", Development, 0),
            ("scenario", "topology", Development, 1),
            ("traffic", "topology", Development, 1),
            ("plumb", "plumb-tests", Development, 0),
            ("plumb", "plumb-tests", Normal, 1),
            ("plumb", "topology", Normal, 1),
            ("scenario", "xtask", Development, 1),
            ("topology", "nlink", Normal, 0),
            ("plumb", "agent", Normal, 0),
            ("units", "serde", Normal, 0),
        ];
        for (from, to, kind, expected) in cases {
            assert_eq!(added(from, to, kind).len(), expected, "{from} -> {to} ({kind:?})");
        }
    }

    #[test]
    fn a_room_must_be_in_the_table_and_in_the_workspace() {
        let mut graph = todays_graph();
        graph.packages.retain(|package| package.name != "report");
        graph.arrows.retain(|arrow| arrow.from.name != "report" && arrow.to != "report");
        graph.packages.push(Package { name: "helpers".into(), manifest: "crates/helpers/Cargo.toml".into() });
        let found = violations(&Table::OURS, &graph).join("\n");
        assert!(found.contains("crates/helpers/Cargo.toml: the table has no crate `helpers`"), "{found}");
        assert!(found.contains("the table has a crate `report`, the workspace has not"), "{found}");
    }

    #[test]
    fn the_table_points_down_only() {
        for rule in CRATES {
            for entered in rule.may_use {
                let entered = Table::OURS.rule(entered).unwrap();
                assert!(entered.level <= rule.level, "{} -> {}", rule.name, entered.name);
                assert!(!entered.may_use.contains(&rule.name), "{} <-> {}", rule.name, entered.name);
            }
        }
    }
}
