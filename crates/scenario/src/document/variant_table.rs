//! A variant as written: the sections that it lays over the document. What they hold is read when it is laid over.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};
use toml::Spanned;

/// Tables that are laid over those of the document, as in `[variants.vm.guests.client]`.
#[derive(Debug, Clone)]
pub(crate) struct VariantTable {
    /// Its sections, with their places.
    pub(crate) sections: Vec<Spanned<String>>,
}

impl<'de> Deserialize<'de> for VariantTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Sections;
        impl<'de> de::Visitor<'de> for Sections {
            type Value = Vec<Spanned<String>>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a table of tables")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut sections = Vec::new();
                while let Some((name, de::IgnoredAny)) = map.next_entry()? {
                    sections.push(name);
                }
                Ok(sections)
            }
        }
        deserializer.deserialize_map(Sections).map(|sections| Self { sections })
    }
}

impl JsonSchema for VariantTable {
    fn schema_name() -> Cow<'static, str> {
        "Variant".into()
    }

    /// Its keys are those of the document, which is not known here; [`crate::schema`] gives them.
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "Tables that are laid over those of the document: what they say goes before what it says.",
        })
    }
}
