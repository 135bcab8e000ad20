//! Validates requests against the API description.

use serde_json::{Map, Value};

use crate::description::{Kind, OPERATIONS, Operation, Property};

#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

#[derive(Debug, Default)]
pub(crate) struct Machine {
    put: Vec<String>,
    pub(crate) runs: bool,
}

impl Machine {
    pub(crate) fn take(&mut self, request: &Request) -> Result<Value, String> {
        let body = valid(request)?;
        let (operation, _) = operation(&request.path).expect("it is valid");
        if self.runs && !operation.when_running {
            return Err("The requested operation is not supported after starting the microVM.".to_owned());
        }
        if body["action_type"] == "InstanceStart" {
            if !self.put.iter().any(|path| path == "/boot-source") {
                return Err("Cannot start microvm without kernel configuration.".to_owned());
            }
            self.runs = true;
        }
        self.put.push(request.path.clone());
        Ok(body)
    }
}

pub(crate) fn valid(request: &Request) -> Result<Value, String> {
    let Some((operation, name)) = operation(&request.path) else {
        return Err(format!("Invalid request method and/or path: {} {}.", request.method, request.path));
    };
    if request.method != "PUT" {
        return Err(format!("Invalid request method and/or path: {} {}.", request.method, request.path));
    }
    headers(request)?;
    let body: Value = serde_json::from_slice(&request.body).map_err(|error| {
        format!("An error occurred when deserializing the json body of a request: {error}.")
    })?;
    object(operation.body, body.as_object().ok_or("the body is not an object")?)?;
    match name {
        Some(name) if body["iface_id"] != name => {
            Err("The id from the path does not match the id from the body!".to_owned())
        }
        _ => Ok(body),
    }
}

fn operation(path: &str) -> Option<(&'static Operation, Option<&str>)> {
    OPERATIONS.iter().find_map(|operation| match operation.path.split_once("{}") {
        None => (operation.path == path).then_some((operation, None)),
        Some((before, after)) => {
            let name = path.strip_prefix(before)?.strip_suffix(after)?;
            let is_name =
                !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            is_name.then_some((operation, Some(name)))
        }
    })
}

fn headers(request: &Request) -> Result<(), String> {
    let header = |name: &str| {
        let found = request.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    };
    // RFC 9112, section 3.2: a request without this header is refused.
    header("host").ok_or("there is no Host")?;
    match header("content-type") {
        Some("application/json") => {}
        other => return Err(format!("Content-Type is {other:?}")),
    }
    match header("accept") {
        None | Some("application/json" | "*/*") => {}
        other => return Err(format!("Accept is {other:?}")),
    }
    match header("content-length").map(str::parse::<usize>) {
        Some(Ok(length)) if length == request.body.len() => Ok(()),
        other => Err(format!("Content-Length is {other:?}, the body has {} bytes", request.body.len())),
    }
}

fn object(properties: &[Property], object: &Map<String, Value>) -> Result<(), String> {
    for property in properties.iter().filter(|property| property.required) {
        if !object.contains_key(property.name) {
            return Err(format!("missing field `{}`", property.name));
        }
    }
    for (name, value) in object {
        let property = properties.iter().find(|property| property.name == name);
        let property = property.ok_or_else(|| format!("unknown field `{name}`"))?;
        kind(property.kind, value).map_err(|wrong| format!("`{name}`: {wrong}"))?;
    }
    Ok(())
}

fn kind(kind: Kind, value: &Value) -> Result<(), String> {
    let is = |right: bool, what: &str| if right { Ok(()) } else { Err(format!("{value} is not {what}")) };
    match kind {
        Kind::Text => is(value.is_string(), "text"),
        Kind::Boolean => is(value.is_boolean(), "true or false"),
        Kind::Integer(least, most) => is(
            value.as_i64().is_some_and(|number| (least..=most).contains(&number)),
            "a number that it can be",
        ),
        Kind::Word(words) => is(value.as_str().is_some_and(|word| words.contains(&word)), "one of the words"),
        Kind::Object(properties) => object(properties, value.as_object().ok_or("not an object")?),
    }
}
