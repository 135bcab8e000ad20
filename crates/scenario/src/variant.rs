//! Variants of a scenario: tables of its document that are laid over the rest of it, so that another experiment with the
//! same lab need not be another document. Text in, text out: what comes of it is a document of its own, without variants.
//! Knows no key of the language but the three at its top that it changes.

use thiserror::Error;
use toml_edit::{DocumentMut, Item, TableLike, TomlError, value};

/// The key of a document that holds its variants.
pub(crate) const KEY: &str = "variants";

/// Why a variant cannot be had.
#[derive(Debug, Error)]
pub enum VariantError {
    /// The text is not TOML.
    #[error("the document cannot be read: {0}")]
    Toml(#[from] TomlError),
    /// The document has no variant of that name.
    #[error("there is no variant `{variant}`; there is {}", named(.known))]
    Unknown {
        /// What was asked for.
        variant: String,
        /// What there is.
        known: Vec<String>,
    },
}

fn named(known: &[String]) -> String {
    if known.is_empty() { "none".to_owned() } else { known.join(", ") }
}

/// The names of the variants of a document, in its order; none of what is not TOML.
#[must_use]
pub fn names(text: &str) -> Vec<String> {
    text.parse::<DocumentMut>().map(|document| known(document.get(KEY))).unwrap_or_default()
}

/// The document with the variants of these names laid over it, one after the other. What they say goes before what it
/// says, table by table and key by key; comments stay. Its name and title tell the variants.
///
/// # Errors
/// When the document has no such variant, or is not TOML.
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
        tell(&mut document, variant);
        merge(document.as_table_mut(), table);
    }
    let many = if variants.len() == 1 { "variant" } else { "variants" };
    Ok(format!("# The {many} {} of the scenario `{name}`.\n{document}", quoted(variants)))
}

fn known(tables: Option<&Item>) -> Vec<String> {
    let tables = tables.and_then(Item::as_table_like);
    tables.into_iter().flat_map(TableLike::iter).map(|(name, _)| name.to_owned()).collect()
}

fn quoted(variants: &[&str]) -> String {
    variants.iter().map(|variant| format!("`{variant}`")).collect::<Vec<_>>().join(" and ")
}

/// Another experiment has another name, so that nobody takes its runs for those of the plain one.
fn tell(document: &mut DocumentMut, variant: &str) {
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

/// A key that is there keeps its place and the comments before it.
fn put(base: &mut dyn TableLike, key: &str, item: &Item, over: &dyn TableLike) {
    match (base.get_mut(key), over.key(key)) {
        (Some(there), _) => *there = item.clone(),
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

    fn laid(variants: &[&str]) -> String {
        lay_over(TEXT, variants).expect("there are such variants")
    }

    #[test]
    fn what_a_variant_says_goes_before_the_rest_which_stays_as_it_is_written() {
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
        assert_eq!(laid(&["vm"]), vm);
    }

    #[test]
    fn several_variants_are_laid_over_it_in_their_order() {
        let both = laid(&["vm", "full"]);
        for line in [
            "# The variants `vm` and `full` of the scenario `wire`.",
            "name = \"wire-vm-full\"",
            "title = \"All wires\"",
            "placement = \"free\"",
            "trials = 50",
            "pause = \"1ms\"",
        ] {
            assert!(both.lines().any(|said| said == line), "{line} is not in\n{both}");
        }
        assert_eq!(names(&both), [""; 0], "what comes of it has none");
    }

    #[test]
    fn without_a_variant_it_is_the_same_text() {
        assert_eq!(laid(&[]), TEXT);
        assert_eq!(names(TEXT), ["vm", "full"]);
    }

    #[test]
    fn a_variant_that_there_is_not_is_told_with_those_that_there_are() {
        let error = lay_over(TEXT, &["fast"]).expect_err("no such variant");
        assert_eq!(error.to_string(), "there is no variant `fast`; there is vm, full");
        let error = lay_over("[hosts.a]", &["fast"]).expect_err("no variants");
        assert_eq!(error.to_string(), "there is no variant `fast`; there is none");
    }
}
