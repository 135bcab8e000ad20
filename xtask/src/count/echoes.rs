//! Doc lines that only repeat the name they document.

use std::collections::BTreeSet;

use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, Lit, Meta};

use super::names;
use crate::source::{Module, Source};

/// Words that add nothing to a name.
const EMPTY: &[&str] = &[
    "a", "all", "an", "and", "any", "are", "as", "be", "each", "every", "for", "has", "how", "in", "is",
    "it", "its", "of", "on", "one", "or", "such", "that", "the", "their", "them", "they", "this", "to",
    "was", "were", "what", "where", "which", "who", "with",
];

pub(crate) fn find(source: &Source) -> Vec<String> {
    source.modules.iter().flat_map(of_module).collect()
}

fn of_module(module: &Module) -> Vec<String> {
    let mut finder = Finder { file: &module.file, around: Vec::new(), found: Vec::new() };
    for item in &module.items {
        finder.visit_item(item);
    }
    finder.found
}

struct Finder<'a> {
    file: &'a str,
    around: Vec<String>,
    found: Vec<String>,
}

impl Finder<'_> {
    fn look(&mut self, attributes: &[Attribute], name: &str, types: &str) {
        let docs: Vec<String> = attributes.iter().filter_map(doc).collect();
        let [doc] = docs.as_slice() else { return };
        let known: BTreeSet<String> =
            [name, types].into_iter().chain(self.around.iter().map(String::as_str)).flat_map(stems).collect();
        if stems(doc).all(|stem| EMPTY.contains(&stem.as_str()) || known.contains(&stem)) {
            self.found.push(format!("{}: {name}:{doc}", self.file));
        }
    }

    fn inside(&mut self, name: String, visit: impl FnOnce(&mut Self)) {
        self.around.push(name);
        visit(self);
        self.around.pop();
    }
}

fn doc(attribute: &Attribute) -> Option<String> {
    match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => Some(text.value()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

fn stems(text: &str) -> impl Iterator<Item = String> {
    let parts = text.split(|letter: char| !letter.is_alphanumeric());
    let words = parts.flat_map(names::words).map(|word| word.to_lowercase());
    words.filter(|word| !EMPTY.contains(&word.as_str())).map(|word| {
        let short = word.strip_suffix("ies").or(word.strip_suffix("es")).or(word.strip_suffix('s'));
        short.filter(|short| short.len() > 2).unwrap_or(&word).trim_end_matches(['e', 'y']).to_owned()
    })
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.look(&item.attrs, &item.ident.to_string(), "");
        self.inside(item.ident.to_string(), |finder| visit::visit_item_struct(finder, item));
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.look(&item.attrs, &item.ident.to_string(), "");
        self.inside(item.ident.to_string(), |finder| visit::visit_item_enum(finder, item));
    }

    fn visit_variant(&mut self, variant: &'ast syn::Variant) {
        self.look(&variant.attrs, &variant.ident.to_string(), &variant.fields.to_token_stream().to_string());
        self.inside(variant.ident.to_string(), |finder| visit::visit_variant(finder, variant));
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        let name = field.ident.as_ref().map(ToString::to_string).unwrap_or_default();
        self.look(&field.attrs, &name, &field.ty.to_token_stream().to_string());
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let name = item.self_ty.to_token_stream().to_string();
        self.inside(name, |finder| visit::visit_item_impl(finder, item));
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.look(&item.attrs, &item.sig.ident.to_string(), &item.sig.output.to_token_stream().to_string());
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.look(&item.attrs, &item.sig.ident.to_string(), &item.sig.output.to_token_stream().to_string());
    }

    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        self.look(&item.attrs, &item.ident.to_string(), "");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_docs_that_repeat_name_and_type() {
        let text =
            "/// A lab.\nstruct Lab {\n/// The hosts.\nhosts: Vec<Host>,\n/// MTU in bytes.\nmtu: u32,\n}\n";
        let module = Module::parse("x", Vec::new(), "x.rs", text).unwrap();
        assert_eq!(of_module(&module), ["x.rs: Lab: A lab.", "x.rs: hosts: The hosts."]);
    }
}
