//! `cargo xtask sbom`: the components of the binary as CycloneDX 1.5 (cyclonedx.org/docs/1.5/json).

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package, PackageId};
use clap::Args;
use serde_json::{Value, json};

use crate::workspace::{TARGET, Workspace};

/// Where to write it.
#[derive(Args)]
pub(crate) struct Request {
    /// Write into this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(workspace: &Workspace, request: &Request) -> Result<ExitCode> {
    let text = text(workspace)?;
    match &request.output {
        Some(file) => {
            std::fs::write(file, text).with_context(|| format!("write {}", file.display()))?;
            println!("wrote {}", file.display());
        }
        None => print!("{text}"),
    }
    Ok(ExitCode::SUCCESS)
}

/// Reproducible for the same tree.
pub(crate) fn text(workspace: &Workspace) -> Result<String> {
    let metadata = MetadataCommand::new()
        .current_dir(&workspace.root)
        .other_options(["--locked", "--filter-platform", TARGET].map(str::to_owned))
        .exec()
        .context("cargo metadata of all dependencies")?;
    let lock = workspace.text("Cargo.lock")?.context("Cargo.lock is text")?;
    let document = document(&metadata, &checksums(&lock))?;
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

fn document(metadata: &Metadata, checksums: &BTreeMap<(String, String), String>) -> Result<Value> {
    let root = metadata.packages.iter().find(|package| package.name.as_str() == "plumb");
    let root = root.context("there is no package plumb")?;
    let parts = parts(metadata, &root.id)?;
    let packages: BTreeMap<&PackageId, &Package> =
        metadata.packages.iter().map(|package| (&package.id, package)).collect();
    let mut components = Vec::new();
    let mut dependencies = Vec::new();
    for (id, asks) in &parts {
        let package = packages.get(id).context("a used package has metadata")?;
        if *id != &root.id {
            components.push(component(package, checksums));
        }
        let mut on: Vec<String> = asks.iter().filter_map(|id| packages.get(id)).map(|to| name(to)).collect();
        on.sort();
        dependencies.push(json!({ "ref": name(package), "dependsOn": on }));
    }
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": {
            "type": "application",
            "bom-ref": name(root),
            "name": "plumb",
            "version": root.version.to_string(),
            "licenses": [{ "expression": root.license }],
        } },
        "components": components,
        "dependencies": dependencies,
    }))
}

fn parts<'a>(
    metadata: &'a Metadata,
    root: &'a PackageId,
) -> Result<BTreeMap<&'a PackageId, BTreeSet<&'a PackageId>>> {
    let resolve = metadata.resolve.as_ref().context("cargo metadata resolves nothing")?;
    let nodes: BTreeMap<_, _> = resolve.nodes.iter().map(|node| (&node.id, node)).collect();
    let (mut parts, mut open) = (BTreeMap::new(), vec![root]);
    while let Some(id) = open.pop() {
        let node = nodes.get(id).context("a used package is resolved")?;
        let built = |kinds: &[cargo_metadata::DepKindInfo]| {
            kinds.iter().any(|kind| kind.kind != DependencyKind::Development)
        };
        let asks: BTreeSet<_> =
            node.deps.iter().filter(|to| built(&to.dep_kinds)).map(|to| &to.pkg).collect();
        open.extend(asks.iter().filter(|id| !parts.contains_key(*id)));
        parts.insert(id, asks);
    }
    Ok(parts)
}

fn component(package: &Package, checksums: &BTreeMap<(String, String), String>) -> Value {
    let (name_of_it, version) = (package.name.to_string(), package.version.to_string());
    let mut component = json!({
        "type": "library",
        "bom-ref": name(package),
        "name": name_of_it,
        "version": version,
    });
    if let Some(licence) = &package.license {
        // Crates wrote `/` for `OR` before SPDX expressions.
        component["licenses"] = json!([{ "expression": licence.replace('/', " OR ") }]);
    }
    if package.source.is_some() {
        component["purl"] = json!(name(package));
    } else {
        // Distinguishes crates of this tree from crates of the same name in a registry.
        component["group"] = json!("plumbline");
    }
    if let Some(checksum) = checksums.get(&(name_of_it, version)) {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
    }
    component
}

/// A package URL (github.com/package-url), or an identifier for packages of this tree, which have no URL.
fn name(package: &Package) -> String {
    let kind = if package.source.is_some() { "pkg:cargo/" } else { "plumbline/" };
    format!("{kind}{}@{}", package.name, package.version)
}

fn checksums(lock: &str) -> BTreeMap<(String, String), String> {
    let value = |block: &str, key: &str| {
        let line = block.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \""));
        line.and_then(|rest| rest.strip_suffix('"')).map(str::to_owned)
    };
    lock.split("[[package]]")
        .filter_map(|block| {
            Some(((value(block, "name")?, value(block, "version")?), value(block, "checksum")?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_linked_crates_with_checksums_but_no_test_crates() {
        let workspace = Workspace::open().expect("this tree");
        let text = text(&workspace).expect("cargo metadata");
        assert_eq!(text, self::text(&workspace).expect("the same"), "it is the same each time");
        let document: Value = serde_json::from_str(&text).expect("JSON");
        let components = document["components"].as_array().expect("a list");
        let find = |name: &str| components.iter().find(|component| component["name"] == name);
        let rsa = find("rsa").expect("logins need it");
        assert!(rsa["purl"].as_str().is_some_and(|purl| purl.starts_with("pkg:cargo/rsa@")));
        assert_eq!(rsa["hashes"][0]["content"].as_str().map(str::len), Some(64));
        let server = find("server").expect("a crate of this tree");
        assert!(server["purl"].is_null() && server["hashes"].is_null(), "not from a registry: {server}");
        assert!(find("libtest-mimic").is_none() && find("plumb-tests").is_none(), "only tests use it");
        let known: BTreeSet<&str> = components.iter().filter_map(|it| it["bom-ref"].as_str()).collect();
        let asked = document["dependencies"].as_array().expect("a list").iter();
        let asked = asked.flat_map(|from| from["dependsOn"].as_array().expect("a list"));
        assert!(asked.clone().count() > 100);
        assert!(asked.into_iter().all(|to| known.contains(to.as_str().expect("a name"))), "each is listed");
    }
}
