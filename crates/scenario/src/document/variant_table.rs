//! The sections of a variant, which are merged into the document.

use std::borrow::Cow;

use super::spanned::Spanned;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};

#[derive(Debug, Clone)]
pub(crate) struct VariantTable {
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

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "Tables merged into those of the document. Their values take precedence.",
        })
    }
}
