//! Merges a variant's tables into its document.

use thiserror::Error;
use toml_edit::{Array, DocumentMut, Item, TableLike, TomlError, value};

use crate::family::Family;

pub(crate) const KEY: &str = "variants";

#[derive(Debug, Error)]
pub enum VariantError {
    #[error("the document cannot be read: {0}")]
    Toml(#[from] TomlError),
    #[error("unknown variant `{variant}`; the scenario has {}", list(.known))]
    Unknown { variant: String, known: Vec<String> },
}

fn list(known: &[String]) -> String {
    if known.is_empty() { "none".to_owned() } else { known.join(", ") }
}

#[must_use]
pub fn names(text: &str) -> Vec<String> {
    text.parse::<DocumentMut>().map(|document| known(document.get(KEY))).unwrap_or_default()
}

/// Merges the variants key by key, preserving comments. Fails if a variant does not exist or the text is not
/// valid TOML.
pub fn lay_over(text: &str, variants: &[&str]) -> Result<String, VariantError> {
    let mut document: DocumentMut = text.parse()?;
    if variants.is_empty() {
        return Ok(text.to_owned());
    }
    let tables = document.remove(KEY);
    let name = word(&document, "name");
    for variant in variants {
        let table = tables.as_ref().and_then(|tables| tables.get(variant)?.as_table_like());
        let Some(table) = table else {
            return Err(VariantError::Unknown {
                variant: (*variant).to_owned(),
                known: known(tables.as_ref()),
            });
        };
        rename(&mut document, variant);
        merge(document.as_table_mut(), table);
    }
    let many = if variants.len() == 1 { "variant" } else { "variants" };
    Ok(format!("# The {many} {} of the scenario `{name}`.\n{document}", quoted(variants)))
}

pub fn with_families(text: &str, families: &[Family]) -> Result<String, VariantError> {
    let mut document: DocumentMut = text.parse()?;
    let words: Vec<&str> = families.iter().map(|family| family.word()).collect();
    rename(&mut document, &words.join("-"));
    document["family"] = value(Array::from_iter(words));
    Ok(document.to_string())
}

fn known(tables: Option<&Item>) -> Vec<String> {
    let tables = tables.and_then(Item::as_table_like);
    tables.into_iter().flat_map(TableLike::iter).map(|(name, _)| name.to_owned()).collect()
}

fn quoted(variants: &[&str]) -> String {
    variants.iter().map(|variant| format!("`{variant}`")).collect::<Vec<_>>().join(" and ")
}

/// Renames the scenario so that runs of the variant are not mistaken for runs of the original.
fn rename(document: &mut DocumentMut, variant: &str) {
    let (name, title) = (word(document, "name"), word(document, "title"));
    document["name"] = value(format!("{name}-{variant}"));
    document["title"] = value(format!("{title} ({variant})"));
}

fn word(document: &DocumentMut, key: &str) -> String {
    document.get(key).and_then(Item::as_str).unwrap_or_default().to_owned()
}

fn merge(base: &mut dyn TableLike, over: &dyn TableLike) {
    for (key, item) in over.iter() {
        match (base.get_mut(key).and_then(Item::as_table_like_mut), item.as_table_like()) {
            (Some(base), Some(over)) => merge(base, over),
            _ => put(base, key, item, over),
        }
    }
}

/// An existing key retains its position and the comments before it.
fn put(base: &mut dyn TableLike, key: &str, item: &Item, over: &dyn TableLike) {
    match (base.get_mut(key), over.key(key)) {
        (Some(existing), _) => *existing = item.clone(),
        (None, Some(written)) => {
            base.entry_format(written).or_insert(item.clone());
        }
        (None, None) => {
            base.insert(key, item.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"# A wire.
schema = 1
name = "wire"
title = "A wire" # as fast as memory

[hosts.a]

# Both ends are pinned.
[workloads.throughput]
kind = "stream" # TCP
placement = "cross-cpu" # each on its own

[schedule]
trials = 5

[variants.vm.vms.small]
# One is enough.
vcpus = 1

[variants.vm.workloads.throughput]
placement = "free"

[variants.full]
title = "All wires"

[variants.full.schedule]
trials = 50
pause = "1ms"
"#;

    fn merged(variants: &[&str]) -> String {
        lay_over(TEXT, variants).expect("the variants exist")
    }

    #[test]
    fn variant_takes_precedence_and_keeps_comments() {
        let vm = r#"# The variant `vm` of the scenario `wire`.
# A wire.
schema = 1
name = "wire-vm"
title = "A wire (vm)"

[hosts.a]

# Both ends are pinned.
[workloads.throughput]
kind = "stream" # TCP
placement = "free"

[schedule]
trials = 5

[vms.small]
# One is enough.
vcpus = 1
"#;
        assert_eq!(merged(&["vm"]), vm);
    }

    #[test]
    fn merges_several_variants_in_order() {
        let both = merged(&["vm", "full"]);
        for line in [
            "# The variants `vm` and `full` of the scenario `wire`.",
            "name = \"wire-vm-full\"",
            "title = \"All wires\"",
            "placement = \"free\"",
            "trials = 50",
            "pause = \"1ms\"",
        ] {
            assert!(both.lines().any(|actual| actual == line), "{line} is not in\n{both}");
        }
        assert_eq!(names(&both), [""; 0], "the result has no variants");
    }

    #[test]
    fn without_variants_returns_text_unchanged() {
        assert_eq!(merged(&[]), TEXT);
        assert_eq!(names(TEXT), ["vm", "full"]);
    }

    #[test]
    fn sets_families_and_renames_the_scenario() {
        let text = with_families(TEXT, &[Family::Ipv4, Family::Ipv6]).expect("valid");
        for line in ["name = \"wire-ipv4-ipv6\"", "family = [\"ipv4\", \"ipv6\"]"] {
            assert!(text.lines().any(|actual| actual == line), "{line} is not in\n{text}");
        }
        assert_eq!(names(&text), ["vm", "full"], "the variants remain");
    }

    #[test]
    fn unknown_variant_error_lists_known_ones() {
        let error = lay_over(TEXT, &["fast"]).expect_err("no such variant");
        assert_eq!(error.to_string(), "unknown variant `fast`; the scenario has vm, full");
        let error = lay_over("[hosts.a]", &["fast"]).expect_err("no variants");
        assert_eq!(error.to_string(), "unknown variant `fast`; the scenario has none");
    }
}
