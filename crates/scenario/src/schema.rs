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

    /// Follows a reference to its definition.
    fn resolved<'s>(root: &'s Value, at: &'s Value) -> &'s Value {
        match at["$ref"].as_str() {
            Some(reference) => root.pointer(&reference[1..]).expect("a definition"),
            None => at,
        }
    }

    /// Every key of the document must be in the schema.
    fn check(root: &Value, at: &Value, document: &toml::Value, place: &str) {
        let at = resolved(root, at);
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
