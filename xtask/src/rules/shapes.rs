//! Rule `shapes`: no two crates declare structs with the same fields or enums with the same variants.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use quote::ToTokens;
use syn::{Fields, Item};

use super::Verdict;
use crate::kinds::KINDS;
use crate::source::{Module, Source};
use crate::workspace::Workspace;

const ADVICE: &str = "keep the type in the lower crate; for a frozen reader of an older version, add a line to \
                      xtask/src/rules/shapes.rs";

/// Smaller shapes may match by coincidence.
const LEAST_FIELDS: usize = 2;
/// With at least this many equal names, field types are ignored, and an enum without data matches one with data.
const NAMES_SUFFICE: usize = 3;

/// Types or modules of types, as `crate::module::Type`, that may have the same shape as a type in another crate.
const EXCEPTIONS: &[&str] = &[
    // The document format needs its own enum in addition to the model's.
    "scenario::document",
    // A record must be readable without the scenario's types.
    "samples::run::PathRecord",
    // One type is parsed, the other is recorded.
    "probe::vm::threads::Reading",
    // A report is copied field by field from the traffic engine's measurements.
    "protocol::message",
    // The findings' type has a schema. Neither crate may use the other.
    "findings::estimate::Interval",
    // The doctor prints these names, for capabilities and for links.
    "cli::commands::doctor::check::Status",
    // Locks on files and on runs. Neither crate may use the other.
    "memory::lock::MemoryLock",
    // The type holds what each method needs from a running machine.
    "memory::running::means::Means",
    // A line on the screen, sorted by these fields in order.
    "cli::live::stream::Key",
    // One type is for commands, the other for trials.
    "cli::pin::Cpus",
    // The other type has atomics.
    "codecs::sockperf::stream::Counts",
    // One type is for a result that a gate cannot decide, the other for a skipped result.
    "findings::comparison::OpenQuestion",
];

pub(crate) fn hold(workspace: &Workspace) -> Result<Verdict> {
    Ok(Verdict::broken(ADVICE, violations(EXCEPTIONS, &Source::read(&workspace.root)?)))
}

fn violations(exceptions: &[&'static str], source: &Source) -> Vec<String> {
    let shapes: Vec<Shape> = source.modules.iter().flat_map(shapes_of).collect();
    let mut used = BTreeSet::new();
    let mut lines = Vec::new();
    for (at, one) in shapes.iter().enumerate() {
        for other in shapes[at + 1..].iter().filter(|other| one.has_shape_of(other)) {
            let excepted: Vec<&str> =
                exceptions.iter().copied().filter(|path| one.is_in(path) || other.is_in(path)).collect();
            if excepted.is_empty() {
                lines.push(format!("{} ({}) and {} ({})", one.path, one.file, other.path, other.file));
            }
            used.extend(excepted);
        }
    }
    let idle = exceptions.iter().filter(|path| !used.contains(*path));
    lines.extend(
        idle.map(|path| format!("the table has an exception for {path}, but no other type has its shape")),
    );
    lines
}

struct Shape<'a> {
    krate: &'a str,
    path: String,
    file: &'a str,
    is_kind: bool,
    parts: Parts,
}

#[derive(PartialEq)]
enum Parts {
    Struct(BTreeMap<String, String>),
    Enum(BTreeMap<String, String>),
}

impl Shape<'_> {
    fn has_shape_of(&self, other: &Self) -> bool {
        self.krate != other.krate
            && match (&self.parts, &other.parts) {
                (Parts::Struct(one), Parts::Struct(other)) if one.len() >= NAMES_SUFFICE => {
                    one.keys().eq(other.keys())
                }
                (Parts::Enum(one), Parts::Enum(other)) if one.len() >= NAMES_SUFFICE => {
                    let restates = !self.is_kind && (are_words(one) || are_words(other));
                    one.keys().eq(other.keys()) && (one == other || restates)
                }
                (one, other) => one == other,
            }
    }

    fn is_in(&self, path: &str) -> bool {
        self.path.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    }
}

fn shapes_of(module: &Module) -> Vec<Shape<'_>> {
    let items = module.all_items().into_iter();
    let shapes = items.filter_map(|item| {
        let (name, parts) = parts(item)?;
        let words = [&module.krate].into_iter().chain(&module.path).chain([&name]);
        let path = words.map(String::as_str).collect::<Vec<_>>().join("::");
        let kind = format!("{}::{name}", module.krate);
        let is_kind = KINDS.iter().any(|known| known.enums.contains(&kind.as_str()));
        Some(Shape { krate: &module.krate, path, file: &module.file, is_kind, parts })
    });
    shapes.collect()
}

fn parts(item: &Item) -> Option<(String, Parts)> {
    match item {
        Item::Struct(item) if item.fields.len() >= LEAST_FIELDS => {
            let Fields::Named(fields) = &item.fields else { return None };
            let fields = fields
                .named
                .iter()
                .filter_map(|field| Some((field.ident.as_ref()?.to_string(), short(&field.ty))));
            Some((item.ident.to_string(), Parts::Struct(fields.collect())))
        }
        Item::Enum(item) if item.variants.len() > 1 => {
            let carried = |variant: &syn::Variant| (variant.ident.to_string(), short(&variant.fields));
            let variants = item.variants.iter().map(carried);
            Some((item.ident.to_string(), Parts::Enum(variants.collect())))
        }
        _ => None,
    }
}

fn are_words(variants: &BTreeMap<String, String>) -> bool {
    variants.values().all(String::is_empty)
}

fn short(ty: &impl ToTokens) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in ty.to_token_stream().to_string().split_whitespace() {
        match word {
            "::" => drop(words.pop()),
            word => words.push(word.to_owned()),
        }
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(exceptions: &[&'static str], one: &str, other: &str) -> Vec<String> {
        let module =
            |krate: &str, text| Module::parse(krate, vec!["m".into()], &format!("{krate}.rs"), text).unwrap();
        violations(exceptions, &Source { modules: vec![module("a", one), module("b", other)] })
    }

    #[test]
    fn finds_equal_shapes_of_two_crates() {
        let cases = [
            ("struct A { x: u32, y: Vec<u8> }", "struct B { y: Vec<u8>, x: u32 }", 1),
            ("struct A { x: u32, y: Nanos }", "struct B { x: u32, y: units::Nanos }", 1),
            ("struct A { x: u32, y: u8 }", "struct B { x: u32, y: u64 }", 0),
            ("struct A { x: u32, y: u8, z: u8 }", "struct B { x: u64, y: u64, z: u64 }", 1),
            ("struct A { x: u32, y: u8, z: u8 }", "struct B { x: u32, y: u8 }", 0),
            ("struct A { x: u32 }", "struct B { x: u32 }", 0),
            ("struct A(u32, u32);", "struct B(u32, u32);", 0),
            ("enum A { X, Y(u8) }", "pub enum A { Y(u8), X }", 1),
            ("enum A { X(Q), Y(Q) }", "enum A { X(R), Y(R) }", 0),
            ("enum A { X, Y }", "enum A { X(Q), Y(Q) }", 0),
            ("enum A { X, Y, Z }", "enum A { X(Q), Y { q: Q }, Z }", 1),
            ("enum A { X(Q), Y, Z }", "enum A { X(R), Y(R), Z }", 0),
            ("enum A { X, Y }", "enum A { X, Y, Z }", 0),
            ("enum A { X }", "enum A { X }", 0),
            ("struct A { x: u32, y: u8 }\nmod n { struct C { x: u32, y: u8 } }", "", 0),
            ("#[cfg(test)]\nstruct A { x: u32, y: u8 }", "struct B { x: u32, y: u8 }", 0),
        ];
        for (one, other, expected) in cases {
            assert_eq!(found(&[], one, other).len(), expected, "{one} / {other}");
        }
    }

    #[test]
    fn data_of_variants_is_not_a_list_of_words() {
        let module = |krate: &str, text| Module::parse(krate, vec![], &format!("{krate}.rs"), text).unwrap();
        let words = || module("workload", "enum WorkloadKind { A, B, C }");
        let found = |other| violations(&[], &Source { modules: vec![words(), module("b", other)] }).len();
        assert_eq!(found("enum Restricted { A(X), B(Y), C(Z) }"), 0);
        assert_eq!(found("enum Word { A, B, C }"), 1);
    }

    #[test]
    fn accepts_exceptions_and_reports_unused_ones() {
        let (one, other) = ("enum A { X, Y }", "enum A { X, Y }");
        assert_eq!(found(&[], one, other), ["a::m::A (a.rs) and b::m::A (b.rs)"]);
        for path in ["b::m::A", "b::m", "a"] {
            assert!(found(&[path], one, other).is_empty(), "{path}");
        }
        let idle = found(&["b::mo"], one, other);
        assert_eq!(idle.len(), 2);
        assert_eq!(idle[1], "the table has an exception for b::mo, but no other type has its shape");
    }
}
