//! The JSON Schema of the document, for editors. Knows nothing of checks beyond the shape.

use std::mem;

use serde_json::{Value, json};

use crate::{
    check,
    document::{self, Document},
};

/// The JSON Schema of a scenario document: every key with its description, and what an editor can check of values.
#[must_use]
pub fn schema() -> Value {
    let mut schema = schemars::schema_for!(Document).to_value();
    drop_null(&mut schema);
    give_words(&mut schema);
    give_variants_keys(&mut schema);
    schema
}

/// The words of devices and factors, which the tables of the document do not know.
fn give_words(schema: &mut Value) {
    let devices = &mut schema["$defs"]["DeviceTable"];
    devices["properties"] = Value::Object(check::device_words());
    devices["additionalProperties"] = Value::Bool(false);
    let vary = json!({ "description": "What can be varied.", "oneOf": check::vary_words() });
    schema["$defs"]["VaryWord"] = vary;
}

/// The tables that describe the lab, for the guide: Markdown, in the order of the documents.
#[must_use]
pub fn lab_tables() -> String {
    let root = schema();
    let row = |key: &'static str| {
        let named = &root["properties"][key];
        let (pattern, table) = match &named["items"] {
            Value::Null => (format!("[{key}.NAME]"), &named["additionalProperties"]),
            items => (format!("[[{key}]]"), items),
        };
        let table = definition(&root, table);
        let members = table["properties"].as_object().into_iter().flatten().filter_map(|(name, property)| {
            let member = definition(&root, property.get("additionalProperties")?);
            Some(table_row(&format!("[{key}.NAME.{name}.NAME]"), member))
        });
        [table_row(&pattern, table)].into_iter().chain(members).collect::<String>()
    };
    let rows: String = document::of_lab().map(row).collect();
    format!("| table | what it is | keys |\n| --- | --- | --- |\n{rows}")
}

/// The layers that packets meet, for the guide: Markdown.
#[must_use]
pub fn layers() -> String {
    let root = schema();
    let layers = root["$defs"]["Layer"]["oneOf"].as_array().into_iter().flatten();
    let rows: String = layers
        .map(|layer| format!("| `{}` | {} |\n", text(&layer["const"]), sentence(&layer["description"])))
        .collect();
    format!("| layer | what it is |\n| --- | --- |\n{rows}")
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

/// The first sentence, without its full stop.
fn sentence(description: &Value) -> String {
    let text = text(description).replace('\n', " ");
    text.split(". ").next().unwrap_or_default().trim_end_matches('.').to_owned()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The definition of a variant.
const VARIANT: &str = "Variant";

/// A variant has the document's keys and tables, and none of them must be there: each definition once more without what it
/// requires.
fn give_variants_keys(schema: &mut Value) {
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

/// Takes out what is required, and lets references point to the definitions that are made in the same way.
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

/// Takes `null` out of every type: TOML has none, and what is optional is left out.
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

    /// Every key of the document must be in the schema.
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
    fn every_key_of_the_builtins_is_in_the_schema() {
        let root = schema();
        for shipped in builtin::all() {
            let document = shipped.text.parse::<toml::Table>().expect("TOML");
            check(&root, &root, &toml::Value::Table(document), shipped.name);
        }
    }

    #[test]
    fn every_key_has_a_description() {
        let root = schema();
        let definitions = root["$defs"].as_object().expect("definitions").values();
        for table in definitions.chain([&root]).filter(|table| table["properties"].is_object()) {
            for (key, value) in table["properties"].as_object().expect("an object") {
                assert!(value["description"].is_string(), "{key} of {}", table["description"]);
            }
        }
    }

    #[test]
    fn nothing_may_be_null() {
        assert!(!schema().to_string().contains("null"));
    }
}
