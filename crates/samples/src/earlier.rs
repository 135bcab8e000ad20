//! Records of every earlier version, read as today's: one step a version, from the shape that it wrote to the next.
//! Must not know where a record lies. Stored examples of each version are in tests/cli/earlier.

use serde::Deserialize;
use serde_json::{Value, json};
use thiserror::Error;

use crate::{
    run::{RunHeader, RunRecord, SCHEMA},
    trial::Trial,
};

/// Step `n` makes version `n + 2` of version `n + 1`.
const STEPS: [Step; SCHEMA as usize - 1] =
    [Step { header: header_of_1, trial: trial_of_1 }, Step { header: header_of_2, trial: |_| () }];

/// What changed from one version to the next. Each adds only what is missing: trials that a later plumb added to a run are
/// not harmed.
struct Step {
    header: fn(&mut Value),
    trial: fn(&mut Value),
}

/// Why a text is no record that can be read.
#[derive(Debug, Error)]
pub enum ReadError {
    /// Its version is none that this plumb knows.
    #[error("it has shape {found}, written by plumb {tool}, and this plumb reads shapes 1 to {SCHEMA}")]
    Newer { found: u32, tool: String },
    #[error(transparent)]
    Malformed(#[from] serde_json::Error),
}

/// Who wrote a record, and in which shape: readable whatever else changed.
#[derive(Debug, Deserialize)]
struct Writer {
    schema: u32,
    tool: String,
}

#[derive(Debug, Deserialize)]
struct Head {
    header: Writer,
}

impl RunHeader {
    /// Reads a header of any version; it has today's then. Also returns the version that it was written in.
    ///
    /// # Errors
    /// When it is of a later version, or no header.
    pub fn read(text: &str) -> Result<(Self, u32), ReadError> {
        let written = known(serde_json::from_str(text)?)?;
        if written == SCHEMA {
            return Ok((serde_json::from_str(text)?, written));
        }
        let mut value = serde_json::from_str(text)?;
        upgrade_header(written, &mut value);
        Ok((serde_json::from_value(value)?, written))
    }
}

impl Trial {
    /// Reads a trial of a run whose header was written in this version.
    ///
    /// # Errors
    /// When it is no trial.
    pub fn read(written: u32, text: &str) -> Result<Self, ReadError> {
        if written == SCHEMA {
            return Ok(serde_json::from_str(text)?);
        }
        let mut value = serde_json::from_str(text)?;
        upgrade_trial(written, &mut value);
        Ok(serde_json::from_value(value)?)
    }
}

impl RunRecord {
    /// Reads a whole record of any version.
    ///
    /// # Errors
    /// When it is of a later version, or no record.
    pub fn read(text: &str) -> Result<Self, ReadError> {
        let Head { header } = serde_json::from_str(text)?;
        let written = known(header)?;
        if written == SCHEMA {
            return Ok(serde_json::from_str(text)?);
        }
        let mut value: Value = serde_json::from_str(text)?;
        value.get_mut("header").into_iter().for_each(|header| upgrade_header(written, header));
        each(value.get_mut("trials"), |trial| upgrade_trial(written, trial));
        Ok(serde_json::from_value(value)?)
    }
}

fn known(Writer { schema, tool }: Writer) -> Result<u32, ReadError> {
    let known = (1..=SCHEMA).contains(&schema);
    if known { Ok(schema) } else { Err(ReadError::Newer { found: schema, tool }) }
}

fn upgrade_header(written: u32, header: &mut Value) {
    steps_from(written).for_each(|step| (step.header)(header));
    if let Some(written) = header.get_mut("schema") {
        *written = json!(SCHEMA);
    }
}

fn upgrade_trial(written: u32, trial: &mut Value) {
    steps_from(written).for_each(|step| (step.trial)(trial));
}

fn steps_from(written: u32) -> impl Iterator<Item = &'static Step> {
    STEPS.iter().skip(written as usize - 1)
}

/// Version 2: loads have a transport, a mode and a schedule, and what is set on sockets is one table.
fn header_of_1(header: &mut Value) {
    each(header.get_mut("cells"), |cell| {
        let Some(load) = cell.get_mut("load").and_then(Value::as_object_mut) else { return };
        if let Some(congestion) = load.remove("congestion") {
            load.insert("socket".to_owned(), json!({ "congestion": congestion }));
        }
        let missing = match load.get("kind").and_then(Value::as_str) {
            Some("stream") => json!({ "transport": "tcp", "mode": "app", "socket": {} }),
            _ => json!({ "schedule": "closed", "waiting": "block", "interval": 500_000_000, "socket": {} }),
        };
        add(Some(&mut cell["load"]), &missing);
    });
}

/// Version 2: what datagrams, threads and open loops show. That a host was busy follows from its load average, which the
/// header has.
fn trial_of_1(trial: &mut Value) {
    if let Some(doubts) = trial.get_mut("doubts").and_then(Value::as_array_mut) {
        doubts.retain(|doubt| doubt["kind"] != "busy-host");
    }
    let Some(measurement) = trial.get_mut("measurement") else { return };
    each(measurement.get_mut("flows"), |flow| {
        ["sender", "receiver"].into_iter().for_each(|end| end_of_1(flow.get_mut(end)));
    });
    if measurement["kind"] == "ping-pong" {
        ["client", "server"].into_iter().for_each(|end| add(measurement.get_mut(end), &socket_of_2()));
        add(Some(measurement), &json!({ "intervals": [] }));
    }
}

fn end_of_1(end: Option<&mut Value>) {
    let Some(end) = end else { return };
    add(end.get_mut("socket"), &socket_of_2());
    each(end.get_mut("intervals"), |interval| {
        add(interval.get_mut("tcp"), &json!({ "reorderings": 0, "out_of_order": 0, "offered_window": 0 }));
    });
}

fn socket_of_2() -> Value {
    json!({ "zero_copy": false, "ran_on": [] })
}

/// Version 3: what was sent may also be told by a log.
fn header_of_2(header: &mut Value) {
    each(header.get_mut("cells"), |cell| {
        let Some(cell) = cell.as_object_mut() else { return };
        if let Some(load) = cell.remove("load") {
            cell.insert("sent".to_owned(), json!({ "load": load }));
        }
    });
}

fn each(list: Option<&mut Value>, change: impl FnMut(&mut Value)) {
    list.and_then(Value::as_array_mut).into_iter().flatten().for_each(change);
}

/// Adds what is missing to a table.
fn add(to: Option<&mut Value>, missing: &Value) {
    let Some(to) = to.and_then(Value::as_object_mut) else { return };
    for (key, value) in missing.as_object().into_iter().flatten() {
        to.entry(key).or_insert_with(|| value.clone());
    }
}
