//! The `probes` table.

use std::{borrow::Cow, fmt};

use super::spanned::Spanned;
use samples::ProbeKind;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};

/// Probes. In some blocks, each result gets an additional trial with these probes active. Only trials without
/// probes count towards the result; the overhead of the probes is reported.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProbesTable {
    /// Any of `cpu`, `syscalls`, `packet-way`, or `"all"`. Default: all.
    pub(crate) kinds: Option<Spanned<Kinds>>,
    /// The number of blocks with additional trials, starting with the first. Default: all, up to 7.
    #[schemars(range(min = 1, max = 1000))]
    pub(crate) trials: Option<Spanned<u32>>,
}

#[derive(Debug, Clone)]
pub(crate) enum Kinds {
    All,
    These(Vec<Spanned<ProbeKind>>),
}

impl<'de> Deserialize<'de> for Kinds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(KindsVisitor)
    }
}

impl JsonSchema for Kinds {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Probes by name, or all")
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let word = generator.subschema_for::<ProbeKind>();
        json_schema!({ "anyOf": [{ "const": "all" }, { "type": "array", "items": word, "minItems": 1 }] })
    }
}

struct KindsVisitor;

impl<'de> de::Visitor<'de> for KindsVisitor {
    type Value = Kinds;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of probes or \"all\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Kinds, E> {
        match text {
            "all" => Ok(Kinds::All),
            other => Err(E::unknown_variant(other, &["all"])),
        }
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut list: A) -> Result<Kinds, A::Error> {
        let mut kinds = Vec::new();
        while let Some(kind) = list.next_element()? {
            kinds.push(kind);
        }
        Ok(Kinds::These(kinds))
    }
}
