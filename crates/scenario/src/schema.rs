//! Generates the JSON schema of the document, for text editors.

use std::mem;

use serde_json::{Value, json};

use crate::{
    check,
    document::{self, Document},
};

#[must_use]
pub fn schema() -> Value {
    let mut schema = schemars::schema_for!(Document).to_value();
    drop_null(&mut schema);
    add_setting_keys(&mut schema);
    add_variant_keys(&mut schema);
    schema
}

fn add_setting_keys(schema: &mut Value) {
    let devices = &mut schema["$defs"]["DeviceTable"];
    devices["properties"] = Value::Object(check::device_words());
    devices["additionalProperties"] = Value::Bool(false);
    let vary = json!({ "description": "The setting to vary.", "oneOf": check::vary_words() });
    schema["$defs"]["VaryWord"] = vary;
}

#[must_use]
pub fn lab_tables() -> String {
    let root = schema();
    let row = |key: &'static str| {
        let property = &root["properties"][key];
        let (pattern, table) = match &property["items"] {
            Value::Null => (format!("[{key}.NAME]"), &property["additionalProperties"]),
            items => (format!("[[{key}]]"), items),
        };
        let table = definition(&root, table);
        let members = table["properties"].as_object().into_iter().flatten().filter_map(|(name, property)| {
            let member = definition(&root, property.get("additionalProperties")?);
            Some(table_row(&format!("[{key}.NAME.{name}.NAME]"), member))
        });
        [table_row(&pattern, table)].into_iter().chain(members).collect::<String>()
    };
    let rows: String = document::lab_keys().map(row).collect();
    format!("| table | description | keys |\n| --- | --- | --- |\n{rows}")
}

#[must_use]
pub fn layers() -> String {
    let root = schema();
    let layers = root["$defs"]["Layer"]["oneOf"].as_array().into_iter().flatten();
    let rows: String = layers
        .map(|layer| format!("| `{}` | {} |\n", text(&layer["const"]), sentence(&layer["description"])))
        .collect();
    format!("| layer | description |\n| --- | --- |\n{rows}")
}

fn definition<'s>(root: &'s Value, at: &'s Value) -> &'s Value {
    at["$ref"].as_str().and_then(|reference| root.pointer(reference.strip_prefix('#')?)).unwrap_or(at)
}

fn table_row(pattern: &str, table: &Value) -> String {
    let keys = table["properties"].as_object().into_iter().flatten();
    let keys: Vec<String> = keys.map(|(key, _)| format!("`{key}`")).collect();
    let keys = if keys.is_empty() { "none".to_owned() } else { keys.join(", ") };
    format!("| `{pattern}` | {} | {keys} |\n", sentence(&table["description"]))
}

fn sentence(description: &Value) -> String {
    let text = text(description).replace('\n', " ");
    text.split(". ").next().unwrap_or_default().trim_end_matches('.').to_owned()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

const VARIANT: &str = "Variant";

/// Adds a copy of each definition without required keys, because variants may omit any key.
fn add_variant_keys(schema: &mut Value) {
    let mut part = schema.clone();
    make_optional(&mut part);
    let Some(mut definitions) = part["$defs"].as_object_mut().map(mem::take) else { return };
    let whole = definitions.remove(VARIANT);
    let mut keys = part["properties"].as_object_mut().map(mem::take).unwrap_or_default();
    keys.retain(|key, _| !document::FIXED.contains(&key.as_str()));
    let Some(Value::Object(mut whole)) = whole else { return };
    whole.insert("properties".to_owned(), Value::Object(keys));
    whole.insert("additionalProperties".to_owned(), Value::Bool(false));
    if let Some(all) = schema["$defs"].as_object_mut() {
        all.insert(VARIANT.to_owned(), Value::Object(whole));
        all.extend(definitions.into_iter().map(|(name, one)| (format!("{VARIANT}.{name}"), one)));
    }
}

fn make_optional(value: &mut Value) {
    match value {
        Value::Object(object) => {
            object.remove("required");
            if let Some(Value::String(reference)) = object.get_mut("$ref") {
                *reference = reference.replace("#/$defs/", &format!("#/$defs/{VARIANT}."));
            }
            object.values_mut().for_each(make_optional);
        }
        Value::Array(values) => values.iter_mut().for_each(make_optional),
        _ => {}
    }
}

fn drop_null(value: &mut Value) {
    if let Value::Object(object) = value {
        if let Some(Value::Array(types)) = object.get_mut("type") {
            types.retain(|one| one != "null");
            if let [only] = types.as_slice() {
                let only = only.clone();
                object.insert("type".to_owned(), only);
            }
        }
        if let Some(Value::Array(choices)) = object.get_mut("anyOf") {
            choices.retain(|choice| choice["type"] != "null");
            if let [Value::Object(only)] = choices.as_slice() {
                let only = only.clone();
                object.remove("anyOf");
                object.extend(only);
            }
        }
        object.values_mut().for_each(drop_null);
    } else if let Value::Array(values) = value {
        values.iter_mut().for_each(drop_null);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin;

    fn check(root: &Value, at: &Value, document: &toml::Value, place: &str) {
        let at = definition(root, at);
        match document {
            toml::Value::Table(table) => {
                for (key, value) in table {
                    let known = at["properties"].get(key).or_else(|| at.get("additionalProperties"));
                    let known = known.filter(|known| known.is_object());
                    let known = known.unwrap_or_else(|| panic!("{place}.{key} is not in the schema"));
                    check(root, known, value, &format!("{place}.{key}"));
                }
            }
            toml::Value::Array(values) if at["items"].is_object() => {
                values.iter().for_each(|value| check(root, &at["items"], value, place));
            }
            _ => {}
        }
    }

    #[test]
    fn schema_covers_builtin_scenarios() {
        let root = schema();
        for builtin in builtin::all() {
            let document = builtin.text.parse::<toml::Table>().expect("TOML");
            check(&root, &root, &toml::Value::Table(document), builtin.name);
        }
    }

    #[test]
    fn describes_each_key() {
        let root = schema();
        let definitions = root["$defs"].as_object().expect("definitions").values();
        for table in definitions.chain([&root]).filter(|table| table["properties"].is_object()) {
            for (key, value) in table["properties"].as_object().expect("an object") {
                assert!(value["description"].is_string(), "{key} of {}", table["description"]);
            }
        }
    }

    #[test]
    fn allows_no_null() {
        assert!(!schema().to_string().contains("null"));
    }
}
