//! Settings of a device as written: words and their values. Must not know which words there are.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};
use toml::Spanned;

use super::written::{As, Value};

/// Settings of a device; what is left out stays as the kernel made it.
#[derive(Debug, Clone)]
pub(crate) struct DeviceTable {
    /// Words and values, with their places.
    pub(crate) settings: Vec<(Spanned<String>, Spanned<As<Value>>)>,
}

impl<'de> Deserialize<'de> for DeviceTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Settings;
        impl<'de> de::Visitor<'de> for Settings {
            type Value = DeviceTable;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<DeviceTable, A::Error> {
                let mut settings = Vec::new();
                while let Some(setting) = map.next_entry()? {
                    settings.push(setting);
                }
                Ok(DeviceTable { settings })
            }
        }
        deserializer.deserialize_map(Settings)
    }
}

impl JsonSchema for DeviceTable {
    fn schema_name() -> Cow<'static, str> {
        "DeviceTable".into()
    }

    /// Its words are not known here; [`crate::schema`] gives them.
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "Settings of a device; what is left out stays as the kernel made it.",
        })
    }
}

/// What a factor varies, as far as editors are told.
pub(crate) struct Vary;

impl JsonSchema for Vary {
    fn schema_name() -> Cow<'static, str> {
        "VaryWord".into()
    }

    /// The words are not known here; [`crate::schema`] gives them.
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "description": "What can be varied." })
    }
}
