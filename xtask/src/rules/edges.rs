//! Rule `edges`: crates use only the crates that edges.rs allows.

use anyhow::Result;
use cargo_metadata::{DependencyKind, Metadata};

use super::Verdict;
use crate::edges::{CRATES, CrateRule, RESTRICTED};
use crate::workspace::Workspace;

const ADVICE: &str = "remove the dependency, or change the table in xtask/src/edges.rs with a reason";

pub(crate) fn hold(workspace: &Workspace) -> Result<Verdict> {
    Ok(Verdict::broken(ADVICE, violations(&Graph::of(&workspace.metadata))))
}

fn rule_of(name: &str) -> Option<&'static CrateRule> {
    CRATES.iter().find(|rule| rule.name == name)
}

#[derive(Clone)]
struct Graph {
    packages: Vec<Package>,
    found_edges: Vec<Edge>,
}

#[derive(Clone)]
struct Package {
    name: String,
    manifest: String,
}

#[derive(Clone)]
struct Edge {
    from: Package,
    to: String,
    kind: DependencyKind,
}

impl Graph {
    fn of(metadata: &Metadata) -> Self {
        let mut graph = Self { packages: Vec::new(), found_edges: Vec::new() };
        for package in metadata.workspace_packages() {
            let path = &package.manifest_path;
            let manifest = path.strip_prefix(&metadata.workspace_root).unwrap_or(path).to_string();
            let from = Package { name: package.name.to_string(), manifest };
            let edge = |to: &cargo_metadata::Dependency| Edge {
                from: from.clone(),
                to: to.name.clone(),
                kind: to.kind,
            };
            graph.found_edges.extend(package.dependencies.iter().map(edge));
            graph.packages.push(from);
        }
        graph
    }

    fn has_package(&self, name: &str) -> bool {
        self.packages.iter().any(|package| package.name == name)
    }
}

fn violations(graph: &Graph) -> Vec<String> {
    let unknown = graph.packages.iter().filter(|package| rule_of(&package.name).is_none());
    let unknown =
        unknown.map(|Package { name, manifest }| format!("{manifest}: the table has no crate `{name}`"));
    let absent = CRATES.iter().filter(|rule| !graph.has_package(rule.name));
    let absent =
        absent.map(|rule| format!("the table has a crate `{}` that is not in the workspace", rule.name));
    let found_edges = graph.found_edges.iter().filter_map(|edge| {
        if graph.has_package(&edge.to) { forbidden_use(edge) } else { forbidden_crate(edge) }
    });
    unknown.chain(absent).chain(found_edges).collect()
}

fn forbidden_use(edge: &Edge) -> Option<String> {
    let from = rule_of(&edge.from.name)?;
    let lower = rule_of(&edge.to).is_some_and(|to| to.level < from.level);
    if from.may_use.contains(&edge.to.as_str()) || edge.kind == DependencyKind::Development && lower {
        return None;
    }
    let allowed = if from.may_use.is_empty() { "no crate".to_owned() } else { from.may_use.join(", ") };
    Some(format!("{}; `{}` may use {allowed}: {}", described(edge), from.name, from.why))
}

fn forbidden_crate(edge: &Edge) -> Option<String> {
    let kept = RESTRICTED.iter().find(|kept| kept.krate == edge.to)?;
    if kept.crates.contains(&edge.from.name.as_str()) {
        return None;
    }
    Some(format!(
        "{}; `{}` is confined to {}: {}",
        described(edge),
        kept.krate,
        kept.crates.join(", "),
        kept.why
    ))
}

fn described(edge: &Edge) -> String {
    let section = match edge.kind {
        DependencyKind::Development => "[dev-dependencies]",
        DependencyKind::Build => "[build-dependencies]",
        _ => "[dependencies]",
    };
    format!("{} -> {} in {} {section}", edge.from.name, edge.to, edge.from.manifest)
}

#[cfg(test)]
mod tests {
    use DependencyKind::{Build, Development, Normal};
    use cargo_metadata::MetadataCommand;

    use super::*;

    fn todays_graph() -> Graph {
        Graph::of(&MetadataCommand::new().no_deps().exec().unwrap())
    }

    fn added(from: &str, to: &str, kind: DependencyKind) -> Vec<String> {
        let mut graph = todays_graph();
        let before = violations(&graph);
        let from = graph.packages.iter().find(|package| package.name == from).unwrap().clone();
        graph.found_edges.push(Edge { from, to: to.to_owned(), kind });
        let after = violations(&graph);
        after.into_iter().filter(|line| !before.contains(line)).collect()
    }

    #[test]
    fn workspace_follows_the_table() {
        let found = violations(&todays_graph());
        assert!(found.is_empty(), "{ADVICE}:\n{}", found.join("\n"));
    }

    #[test]
    fn finds_forbidden_edge_with_file_and_reason() {
        let found = added("report", "stats", Normal);
        let expected = "report -> stats in crates/report/Cargo.toml [dependencies]; `report` may use findings, workload, \
                        samples, units: a report shows numbers and computes none";
        assert_eq!(found, [expected]);
    }

    #[test]
    fn finds_forbidden_but_not_allowed_edges() {
        let cases = [
            ("agent", "lab", Normal, 1),
            ("units", "sys", Build, 1),
            ("cli", "agent", Normal, 1),
            ("lab", "store", Normal, 1),
            ("xtask", "units", Normal, 1),
            ("traffic", "tokio", Normal, 1),
            ("cli", "rusqlite", Normal, 1),
            ("probe", "libc", Development, 1),
            // A crate's tests may use lower levels only.
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
    fn table_and_workspace_have_the_same_crates() {
        let mut graph = todays_graph();
        graph.packages.retain(|package| package.name != "report");
        graph.found_edges.retain(|edge| edge.from.name != "report" && edge.to != "report");
        graph.packages.push(Package { name: "helpers".into(), manifest: "crates/helpers/Cargo.toml".into() });
        let found = violations(&graph).join("\n");
        assert!(found.contains("crates/helpers/Cargo.toml: the table has no crate `helpers`"), "{found}");
        assert!(found.contains("the table has a crate `report` that is not in the workspace"), "{found}");
    }

    #[test]
    fn table_has_only_downward_edges() {
        for rule in CRATES {
            for entered in rule.may_use {
                let entered = rule_of(entered).unwrap();
                assert!(entered.level <= rule.level, "{} -> {}", rule.name, entered.name);
                assert!(!entered.may_use.contains(&rule.name), "{} <-> {}", rule.name, entered.name);
            }
        }
    }
}
