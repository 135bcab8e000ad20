//! Counts the tokens of non-test code, regardless of comments, formatting and line breaks.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;

use crate::source::{Module, Source};

pub(crate) fn count(root: &Path) -> Result<BTreeMap<String, usize>> {
    let mut counts = BTreeMap::new();
    for module in Source::with_build_code(root)?.modules {
        *counts.entry(module.krate.clone()).or_default() += of_module(&module);
    }
    Ok(counts)
}

fn of_module(module: &Module) -> usize {
    module.items.iter().map(|item| of_stream(item.to_token_stream())).sum()
}

/// A pair of delimiters counts as two tokens. Documentation is not counted.
fn of_stream(stream: TokenStream) -> usize {
    let trees: Vec<TokenTree> = stream.into_iter().collect();
    let mut count = 0;
    for (at, tree) in trees.iter().enumerate() {
        count += match tree {
            TokenTree::Punct(punct) if punct.as_char() == '#' && is_doc(&trees[at + 1..]) => 0,
            TokenTree::Group(group) if is_doc(&trees[at..]) && follows_hash(&trees[..at]) => {
                debug_assert_eq!(group.delimiter(), Delimiter::Bracket);
                0
            }
            TokenTree::Group(group) => {
                of_stream(group.stream()) + 2 * usize::from(group.delimiter() != Delimiter::None)
            }
            _ => 1,
        };
    }
    count
}

fn is_doc(trees: &[TokenTree]) -> bool {
    let Some(TokenTree::Group(group)) = trees.first() else { return false };
    let first = group.stream().into_iter().next();
    group.delimiter() == Delimiter::Bracket && matches!(first, Some(TokenTree::Ident(name)) if name == "doc")
}

fn follows_hash(trees: &[TokenTree]) -> bool {
    matches!(trees.last(), Some(TokenTree::Punct(punct)) if punct.as_char() == '#')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> usize {
        of_module(&Module::parse("x", Vec::new(), "x.rs", text).unwrap())
    }

    #[test]
    fn comments_tests_and_formatting_do_not_count() {
        let plain = tokens("fn f(a: u8) -> u8 { a + 1 }");
        assert_eq!(plain, 15);
        let commented = "//! Doc.\n/// Doc.\nfn f(\n    a: u8,\n) -> u8 {\n    // Why.\n    a + 1\n}\n#[cfg(test)]\nfn g() {}\n";
        // The trailing comma adds one token.
        assert_eq!(tokens(commented), plain + 1);
    }

    #[test]
    fn attributes_and_nested_groups_count() {
        assert_eq!(tokens("#[must_use] fn f() { g((1, 2)) }"), 4 + 4 + 2 + 1 + 2 + 2 + 3);
    }
}
