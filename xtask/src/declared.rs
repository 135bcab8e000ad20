//! A kind as declared by the code: its variants, and the methods that identify a variant.

use std::collections::{BTreeMap, BTreeSet};

use quote::ToTokens;
use syn::{Fields, Ident, Item, ItemEnum, ReturnType, Type};

use crate::kinds::Kind;
use crate::source::{Module, Source};

pub(crate) struct Declared<'a> {
    kind: &'a Kind,
    variants: BTreeMap<(&'a str, &'a str), BTreeSet<String>>,
    payloads: BTreeSet<String>,
    accessors: BTreeSet<String>,
    definers: BTreeMap<&'a str, BTreeSet<&'a str>>,
}

impl<'a> Declared<'a> {
    pub(crate) fn of(kind: &'a Kind, source: &'a Source) -> Self {
        let mut declared = Self {
            kind,
            variants: BTreeMap::new(),
            payloads: BTreeSet::new(),
            accessors: BTreeSet::new(),
            definers: BTreeMap::new(),
        };
        let modules = source.modules.iter();
        let items = modules.flat_map(|module| module.all_items().into_iter().map(move |item| (module, item)));
        for (module, item) in items.clone() {
            if let Item::Enum(item) = item {
                declared.take(module, item);
            }
        }
        for (module, item) in items {
            if let Item::Impl(item) = item {
                declared.take_accessors(module, item);
            }
        }
        declared
    }

    pub(crate) fn absent(&self, source: &Source) -> Vec<String> {
        let there = |path: &&str| {
            path.split_once("::").is_some_and(|(krate, name)| self.variants.contains_key(&(krate, name)))
        };
        let enums = self.kind.enums.iter().filter(|path| !there(path)).map(|path| format!("enum {path}"));
        let files =
            self.kind.own.iter().filter(|own| !source.modules.iter().any(|module| owns(own, &module.file)));
        enums.chain(files.map(|own| format!("file {own}"))).collect()
    }

    pub(crate) fn owns(&self, file: &str) -> bool {
        self.kind.own.iter().any(|own| owns(own, file))
    }

    pub(crate) fn is_word(&self, text: &str) -> bool {
        self.kind.words.contains(&text)
    }

    pub(crate) fn is_accessor(&self, name: &Ident) -> bool {
        self.accessors.contains(&name.to_string())
    }

    pub(crate) fn has_enum(&self, name: &Ident) -> bool {
        self.variants.keys().any(|(_, known)| name == known)
    }

    fn take(&mut self, module: &'a Module, item: &ItemEnum) {
        let name = item.ident.to_string();
        for path in self.kind.enums {
            let Some((krate, known)) = path.split_once("::").filter(|(_, known)| *known == name) else {
                continue;
            };
            self.definers.entry(known).or_default().insert(&module.krate);
            if krate == module.krate {
                let variants = item.variants.iter().map(|variant| variant.ident.to_string());
                self.variants.entry((krate, known)).or_default().extend(variants);
                let carried: Vec<String> =
                    item.variants.iter().filter_map(|variant| payload(&variant.fields)).collect();
                let once = |one: &&String| carried.iter().filter(|other| other == one).count() == 1;
                self.payloads.extend(carried.iter().filter(once).cloned());
            }
        }
    }

    fn take_accessors(&mut self, module: &Module, item: &syn::ItemImpl) {
        let of_kind = last(&item.self_ty)
            .is_some_and(|name| self.variants.contains_key(&(module.krate.as_str(), name.as_str())));
        for item in &item.items {
            let syn::ImplItem::Fn(method) = item else { continue };
            let ReturnType::Type(_, returned) = &method.sig.output else { continue };
            let alone = method.sig.receiver().is_some() && method.sig.inputs.len() == 1;
            let name = method.sig.ident.to_string();
            let is_accessor =
                of_kind && name.starts_with("is_") && returned.to_token_stream().to_string() == "bool";
            if alone
                && (is_accessor || optional(returned).is_some_and(|inner| self.payloads.contains(&inner)))
            {
                self.accessors.insert(name);
            }
        }
    }

    pub(crate) fn has(&self, krate: &str, path: &[String]) -> bool {
        let [before @ .., name, variant] = path else { return false };
        let known = |(home, known): &(&str, &str)| {
            let written = before.first().map_or(krate, String::as_str);
            let definers = &self.definers[known];
            let target = if definers.contains(written) { written } else { krate };
            *known == name && (!definers.contains(target) || target == *home)
        };
        self.variants.iter().any(|(home, variants)| known(home) && variants.contains(variant))
    }
}

fn owns(own: &str, file: &str) -> bool {
    file == own || own.ends_with('/') && file.starts_with(own)
}

fn payload(fields: &Fields) -> Option<String> {
    match fields {
        Fields::Unnamed(fields) if fields.unnamed.len() == 1 => last(&fields.unnamed[0].ty),
        _ => None,
    }
    .filter(|name| !["String", "Box", "Vec", "bool", "u32", "u64"].contains(&name.as_str()))
}

pub(crate) fn last(ty: &Type) -> Option<String> {
    match ty {
        Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
        Type::Reference(reference) => last(&reference.elem),
        _ => None,
    }
}

/// Also accepts `Option<&X>`.
fn optional(ty: &Type) -> Option<String> {
    let Type::Path(path) = ty else { return None };
    let segment = path.path.segments.last().filter(|segment| segment.ident == "Option")?;
    let syn::PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
    arguments.args.iter().find_map(|argument| match argument {
        syn::GenericArgument::Type(inner) => last(inner),
        _ => None,
    })
}
