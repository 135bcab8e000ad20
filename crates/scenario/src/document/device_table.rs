//! The tables of device settings, including unknown keys.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};

use super::spanned::Spanned;
use super::written::{As, Value};

#[derive(Debug, Clone)]
pub(crate) struct DeviceTable {
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

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "Settings of a device. Omitted settings keep the kernel's default.",
        })
    }
}

pub(crate) struct Vary;

impl JsonSchema for Vary {
    fn schema_name() -> Cow<'static, str> {
        "VaryWord".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "description": "The setting to vary." })
    }
}
