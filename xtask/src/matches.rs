//! Finds the places where the code distinguishes the variants of a kind.
//!
//! Names are followed through `use`, but not through types. Methods are recognized by name and by having no
//! arguments.

use std::collections::{BTreeMap, BTreeSet};

use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{BinOp, Expr, Lit, Pat, Token, UseTree};

use crate::declared::{Declared, last};
use crate::source::{Module, Source};

pub(crate) type Found<'a> = BTreeMap<&'a str, BTreeSet<(usize, String)>>;

pub(crate) fn find<'a>(declared: &Declared<'_>, source: &'a Source) -> Found<'a> {
    let mut found = Found::new();
    for module in source.modules.iter().filter(|module| !declared.owns(&module.file)) {
        let mut finder = Finder {
            kind: declared,
            module,
            brought: brought(module),
            around: Vec::new(),
            found: BTreeSet::new(),
        };
        module.items.iter().for_each(|item| finder.visit_item(item));
        if !finder.found.is_empty() {
            found.entry(module.file.as_str()).or_default().extend(finder.found);
        }
    }
    found
}

/// Lists the imported names. `Name::*` is stored as the name `*Name`.
fn brought(module: &Module) -> BTreeMap<String, Vec<String>> {
    struct Uses(BTreeMap<String, Vec<String>>);
    impl Uses {
        fn bring(&mut self, tree: &UseTree, before: &[String]) {
            let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
            match tree {
                UseTree::Path(path) => self.bring(&path.tree, &with(&path.ident)),
                UseTree::Group(group) => group.items.iter().for_each(|tree| self.bring(tree, before)),
                UseTree::Name(name) if name.ident == "self" => {}
                UseTree::Name(name) => drop(self.0.insert(name.ident.to_string(), with(&name.ident))),
                UseTree::Rename(name) => drop(self.0.insert(name.rename.to_string(), with(&name.ident))),
                _ => drop(self.0.insert(format!("*{}", before.join("::")), before.to_vec())),
            }
        }
    }
    impl<'ast> Visit<'ast> for Uses {
        fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
            self.bring(&item.tree, &[]);
        }
    }
    let mut uses = Uses(BTreeMap::new());
    module.items.iter().for_each(|item| uses.visit_item(item));
    uses.0
}

struct Finder<'a> {
    kind: &'a Declared<'a>,
    module: &'a Module,
    brought: BTreeMap<String, Vec<String>>,
    around: Vec<String>,
    found: BTreeSet<(usize, String)>,
}

impl Finder<'_> {
    fn is_variant(&self, path: &syn::Path) -> bool {
        let mut words: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if words[0] == "Self" {
            words.splice(..1, self.around.last().cloned());
        }
        if let Some(origin) = self.brought.get(&words[0]) {
            words.splice(..1, origin.iter().cloned());
        }
        let globs = self.brought.iter().filter(|(name, _)| words.len() == 1 && name.starts_with('*'));
        let mut globbed = globs.map(|(_, origin)| [origin.as_slice(), &words].concat());
        globbed.any(|path| self.kind.has(&self.module.krate, &path))
            || self.kind.has(&self.module.krate, &words)
    }

    fn note(&mut self, verb: &str, at: &(impl ToTokens + Spanned)) {
        let text = at.to_token_stream().to_string().replace(" :: ", "::").replace(" . ", ".");
        let short: String = text.chars().take(60).collect();
        self.found.insert((at.span().start().line, format!("{verb} {short}")));
    }

    fn compared(&mut self, expr: &Expr) {
        let path = match expr {
            Expr::Path(path) => &path.path,
            Expr::Struct(value) => &value.path,
            Expr::Call(call) => match &*call.func {
                Expr::Path(path) => &path.path,
                _ => return,
            },
            Expr::Reference(reference) => return self.compared(&reference.expr),
            Expr::Paren(paren) => return self.compared(&paren.expr),
            Expr::Array(array) => return array.elems.iter().for_each(|element| self.compared(element)),
            _ => return,
        };
        if self.is_variant(path) {
            self.note("compares with", path);
        }
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        self.around.push(last(&item.self_ty).unwrap_or_default());
        visit::visit_item_impl(self, item);
        self.around.pop();
    }

    fn visit_pat(&mut self, pat: &'ast Pat) {
        let path = match pat {
            Pat::Path(pat) => Some(&pat.path),
            Pat::TupleStruct(pat) => Some(&pat.path),
            Pat::Struct(pat) => Some(&pat.path),
            _ => None,
        };
        if path.is_some_and(|path| self.is_variant(path)) {
            self.note("matches", pat);
        }
        if let Pat::Ident(name) = pat
            && name.subpat.is_none()
            && self.is_variant(&name.ident.clone().into())
        {
            self.note("matches", pat);
        }
        visit::visit_pat(self, pat);
    }

    fn visit_expr_binary(&mut self, expr: &'ast syn::ExprBinary) {
        if matches!(expr.op, BinOp::Eq(_) | BinOp::Ne(_)) {
            self.compared(&expr.left);
            self.compared(&expr.right);
        }
        visit::visit_expr_binary(self, expr);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if call.args.is_empty() && self.kind.is_accessor(&call.method) {
            self.note("calls", &call.method);
        }
        if call.method == "contains" {
            self.compared(&call.receiver);
            call.args.iter().for_each(|argument| self.compared(argument));
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if let Some(segment) = path.segments.last()
            && path.segments.len() > 1
            && self.kind.is_accessor(&segment.ident)
            && self.kind.has_enum(&path.segments[path.segments.len() - 2].ident)
        {
            self.note("calls", path);
        }
        visit::visit_path(self, path);
    }

    fn visit_lit(&mut self, literal: &'ast Lit) {
        if let Lit::Str(text) = literal
            && self.kind.is_word(&text.value())
        {
            self.note("mentions", literal);
        }
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        if call.path.is_ident("matches") {
            let asked = call.parse_body_with(|input: syn::parse::ParseStream| {
                let value: Expr = input.parse()?;
                input.parse::<Token![,]>()?;
                let pattern = Pat::parse_multi_with_leading_vert(input)?;
                let guard =
                    input.parse::<Option<Token![if]>>()?.map(|_| input.parse::<Expr>()).transpose()?;
                input.parse::<Option<Token![,]>>()?;
                Ok((value, pattern, guard))
            });
            if let Ok((value, pattern, guard)) = asked {
                // The syntax tree of these tokens is created here, so it does not live as long as the file's.
                self.visit_made(&pattern, &[Some(value), guard]);
            }
        } else if let Ok(arguments) = call.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated) {
            arguments.iter().for_each(|argument| self.visit_expr(argument));
        }
    }
}

impl Finder<'_> {
    fn visit_made(&mut self, pattern: &Pat, values: &[Option<Expr>; 2]) {
        self.visit_pat(pattern);
        values.iter().flatten().for_each(|value| self.visit_expr(value));
    }
}
