//! Dependency cycles between the modules of a crate.
//!
//! Only modules with their own file count. A module depends on another module if one of its paths ends there and
//! starts with `crate`, `super`, `self` or the name of a child module. Re-exports (`use`) are followed to their
//! origin. Using a child module does not count.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::Visit;
use syn::{Item, UseTree};

use crate::source::{Module, Source};

type Name = Vec<String>;

pub(crate) fn find(source: &Source) -> Vec<String> {
    let crates: BTreeSet<&str> = source.modules.iter().map(|module| module.krate.as_str()).collect();
    crates.into_iter().flat_map(|krate| circles_of(source, krate)).collect()
}

fn circles_of(source: &Source, krate: &str) -> Vec<String> {
    let modules = source.modules.iter().filter(|module| module.krate == krate);
    let crate_map = CrateMap { modules: modules.map(|module| (module.path.clone(), used(module))).collect() };
    let mut circles = Vec::new();
    let mut left: BTreeSet<&Name> = crate_map.modules.keys().collect();
    let reached: BTreeMap<&Name, BTreeSet<&Name>> =
        crate_map.modules.keys().map(|name| (name, crate_map.reached(name))).collect();
    while let Some(first) = left.pop_first() {
        let circle: Vec<&Name> =
            reached[first].iter().copied().filter(|other| reached[other].contains(first)).collect();
        if circle.len() > 1 {
            let names: Vec<String> = circle.iter().map(|name| shown(name)).collect();
            circles.push(format!("{krate}: {}{}", names.join(" "), crate_map.ties(&circle)));
        }
        left.retain(|name| !circle.contains(name));
    }
    circles
}

fn shown(name: &Name) -> String {
    if name.is_empty() { "lib".to_owned() } else { name.join("::") }
}

struct CrateMap {
    modules: BTreeMap<Name, Uses>,
}

#[derive(Default)]
struct Uses {
    paths: BTreeSet<Name>,
    brought: BTreeMap<String, Name>,
}

impl CrateMap {
    fn reached(&self, from: &Name) -> BTreeSet<&Name> {
        let mut reached = BTreeSet::new();
        let mut next = vec![from];
        while let Some(name) = next.pop() {
            for path in &self.modules[name].paths {
                let to = self.target(path, 8);
                if to.is_some_and(|to| !to.starts_with(name) && reached.insert(to)) {
                    next.extend(to);
                }
            }
        }
        reached
    }

    fn ties(&self, circle: &[&Name]) -> String {
        let ties_of = |from: &&Name| {
            let to_line = |path: &Name| {
                let to = self.target(path, 8).filter(|to| circle.contains(to) && !to.starts_with(from))?;
                Some(format!("\n    {} -> {}: {}", shown(from), shown(to), path.join("::")))
            };
            self.modules[*from].paths.iter().filter_map(to_line).collect::<String>()
        };
        circle.iter().map(ties_of).collect()
    }

    fn target(&self, path: &Name, most: u8) -> Option<&Name> {
        let depth = (0..=path.len()).rev().find(|depth| self.modules.contains_key(&path[..*depth]))?;
        let (module, uses) = self.modules.get_key_value(&path[..depth])?;
        let Some(name) = path.get(depth).filter(|_| most > 0) else { return Some(module) };
        let rest = &path[depth + 1..];
        if let Some(origin) = uses.brought.get(name).filter(|origin| *origin != path) {
            return self.target(&[origin.as_slice(), rest].concat(), most - 1);
        }
        Some(module)
    }
}

fn used(module: &Module) -> Uses {
    let mut finder = Finder { module, at: module.path.clone(), uses: Uses::default() };
    for item in &module.items {
        finder.visit_item(item);
    }
    finder.uses
}

struct Finder<'a> {
    module: &'a Module,
    at: Name,
    uses: Uses,
}

impl Finder<'_> {
    fn full(&self, path: &[String]) -> Option<Name> {
        let supers = path.iter().take_while(|word| *word == "super").count();
        match path.first()?.as_str() {
            "crate" => Some(path[1..].to_vec()),
            "self" => Some([&self.at, &path[1..]].concat()),
            "super" => Some([self.at.get(..self.at.len().checked_sub(supers)?)?, &path[supers..]].concat()),
            first => self.is_below(first).then(|| [&self.at, path].concat()),
        }
    }

    fn is_below(&self, name: &str) -> bool {
        self.module.items.iter().any(|item| matches!(item, Item::Mod(below) if below.ident == name))
    }

    fn bring(&mut self, tree: &UseTree, before: &[String]) {
        let with = |name: &dyn ToString| [before, &[name.to_string()]].concat();
        match tree {
            UseTree::Path(path) => self.bring(&path.tree, &with(&path.ident)),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.bring(tree, before)),
            UseTree::Name(name) if name.ident == "self" => self.name(before, before.last().cloned()),
            UseTree::Name(name) => self.name(&with(&name.ident), Some(name.ident.to_string())),
            UseTree::Rename(name) => self.name(&with(&name.ident), Some(name.rename.to_string())),
            _ => self.name(before, None),
        }
    }

    fn name(&mut self, path: &[String], name: Option<String>) {
        if let Some(full) = self.full(path) {
            if let Some(name) = name {
                self.uses.brought.insert(name, full.clone());
            }
            self.uses.paths.insert(full);
        }
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.bring(&item.tree, &[]);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.at.push(item.ident.to_string());
        syn::visit::visit_item_mod(self, item);
        self.at.pop();
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let words: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if words.len() > 1
            && let Some(full) = self.full(&words)
        {
            self.uses.paths.insert(full);
        }
        syn::visit::visit_path(self, path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(modules: &[(&str, &str)]) -> Vec<String> {
        let parsed = modules.iter().map(|(name, text)| {
            let path = name.split("::").filter(|word| !word.is_empty()).map(str::to_owned).collect();
            Module::parse("x", path, "x.rs", text).unwrap()
        });
        let circles = find(&Source { modules: parsed.collect() });
        circles.iter().filter_map(|circle| circle.lines().next().map(str::to_owned)).collect()
    }

    #[test]
    fn finds_mutual_dependencies_but_not_chains() {
        let root = ("", "mod a; mod b; mod c;");
        let line = [
            root,
            ("a", "use crate::b::B;"),
            ("b", "struct B; fn f() { super::c::g() }"),
            ("c", "fn g() {}"),
        ];
        assert!(found(&line).is_empty());
        let circle = [root, line[1], line[2], ("c", "fn g(a: super::a::A) {}")];
        assert_eq!(found(&circle), ["x: a b c"]);
    }

    #[test]
    fn follows_reexports_to_their_origin() {
        let root = ("", "mod a; mod b; pub use b::B;");
        assert!(found(&[root, ("a", "use crate::B;"), ("b", "struct B;")]).is_empty());
        assert_eq!(
            found(&[root, ("a", "use crate::B; struct A;"), ("b", "use super::a::A; struct B;")]),
            ["x: a b"]
        );
    }

    #[test]
    fn ignores_use_of_child_modules() {
        let above = ("", "mod a; struct R; fn f() { a::g() }");
        assert!(found(&[above, ("a", "mod b; use crate::R;"), ("a::b", "use super::g;")]).is_empty());
    }
}
