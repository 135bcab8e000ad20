//! The product's code without tests, as syntax trees.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use syn::spanned::Spanned;
use syn::{Attribute, Item};

pub(crate) struct Source {
    pub(crate) modules: Vec<Module>,
}

pub(crate) struct Module {
    pub(crate) krate: String,
    /// Relative to the crate's root, which has an empty path.
    pub(crate) path: Vec<String>,
    pub(crate) file: String,
    pub(crate) items: Vec<Item>,
    /// The number of lines, including comments and blank lines, but not the excluded items.
    pub(crate) lines: usize,
}

impl Source {
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let folder = root.join("crates");
        let mut names = Vec::new();
        for entry in fs::read_dir(&folder).with_context(|| format!("list {}", folder.display()))? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        names.sort();
        let mut source = Self { modules: Vec::new() };
        for name in names {
            let files = ["lib.rs", "main.rs"].map(|file| format!("crates/{name}/src/{file}"));
            for file in files.into_iter().filter(|file| root.join(file).is_file()) {
                source.add(root, &name.replace('-', "_"), Vec::new(), &file)?;
            }
        }
        Ok(source)
    }

    pub(crate) fn with_build_code(root: &Path) -> Result<Self> {
        let mut source = Self::read(root)?;
        let crates: BTreeSet<String> = source.modules.iter().map(|module| module.krate.clone()).collect();
        for krate in crates {
            let script = format!("crates/{krate}/build.rs");
            if root.join(&script).is_file() {
                source.add(root, &krate, Vec::new(), &script)?;
            }
        }
        source.add(root, "xtask", Vec::new(), "xtask/src/main.rs")?;
        Ok(source)
    }

    pub(crate) fn lines(&self) -> BTreeMap<&str, usize> {
        let mut lines = BTreeMap::new();
        for module in &self.modules {
            *lines.entry(module.krate.as_str()).or_default() += module.lines;
        }
        lines
    }

    fn add(&mut self, root: &Path, krate: &str, path: Vec<String>, file: &str) -> Result<()> {
        let text = fs::read_to_string(root.join(file)).with_context(|| format!("read {file}"))?;
        let module = Module::parse(krate, path, file, &text)?;
        let below = if module.path.is_empty() || file.ends_with("/mod.rs") {
            file.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned()
        } else {
            file.trim_end_matches(".rs").to_owned()
        };
        let children: Vec<String> = module.items.iter().filter_map(child).collect();
        let path = module.path.clone();
        self.modules.push(module);
        for child in children {
            let files = [format!("{below}/{child}.rs"), format!("{below}/{child}/mod.rs")];
            let file = files.iter().find(|file| root.join(file).is_file());
            let file = file.with_context(|| format!("{file}: no file for `mod {child}`", file = files[0]))?;
            self.add(root, krate, [path.as_slice(), &[child]].concat(), file)?;
        }
        Ok(())
    }
}

impl Module {
    pub(crate) fn parse(krate: &str, path: Vec<String>, file: &str, text: &str) -> Result<Self> {
        let mut items = syn::parse_file(text).with_context(|| format!("parse {file}"))?.items;
        let mut lines = text.lines().count();
        items.retain(|item| {
            let kept = !attributes(item).iter().any(is_for_tests);
            if !kept {
                let span = item.span();
                lines -= span.end().line + 1 - span.start().line;
            }
            kept
        });
        Ok(Self { krate: krate.to_owned(), path, file: file.to_owned(), items, lines })
    }

    pub(crate) fn all_items(&self) -> Vec<&Item> {
        let mut all: Vec<&Item> = self.items.iter().collect();
        let mut at = 0;
        while let Some(item) = all.get(at) {
            if let Item::Mod(inner) = item {
                all.extend(inner.content.iter().flat_map(|(_, items)| items));
            }
            at += 1;
        }
        all
    }
}

fn child(item: &Item) -> Option<String> {
    match item {
        Item::Mod(module) if module.content.is_none() => Some(module.ident.to_string()),
        _ => None,
    }
}

fn is_for_tests(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg")
        && attribute
            .meta
            .require_list()
            .is_ok_and(|list| matches!(list.tokens.to_string().as_str(), "test" | "any (test , fuzzing)"))
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excludes_tests_from_items_and_lines() {
        let text =
            "//! Doc.\nfn a() {}\n\n#[cfg(test)]\nuse b::c;\n#[cfg(test)]\nmod tests {\n    fn d() {}\n}\n";
        let module = Module::parse("x", Vec::new(), "x.rs", text).unwrap();
        assert_eq!((module.items.len(), module.lines), (1, 3));
    }

    #[test]
    fn includes_modules_inside_a_file() {
        let module =
            Module::parse("x", Vec::new(), "x.rs", "mod a { mod b { fn c() {} } }\nmod d;\n").unwrap();
        assert_eq!(module.all_items().len(), 4);
        assert_eq!(module.items.iter().filter_map(child).collect::<Vec<_>>(), ["d"]);
    }
}
