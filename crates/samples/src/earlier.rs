//! Reads records of earlier versions, with one upgrade step per version. Examples are in tests/cli/earlier.

use serde::Deserialize;
use serde_json::{Value, json};
use thiserror::Error;

use crate::{
    run::{RunHeader, RunRecord, SCHEMA},
    trial::Trial,
};

/// Step `n` upgrades version `n + 1` to `n + 2`.
const STEPS: [Step; SCHEMA as usize - 1] =
    [Step { header: header_of_1, trial: trial_of_1 }, Step { header: header_of_2, trial: |_| () }];

/// Steps only add missing data, because a later version of plumb may have appended trials to a run.
struct Step {
    header: fn(&mut Value),
    trial: fn(&mut Value),
}

#[derive(Debug, Error)]
pub enum ReadError {
    /// The schema version is not supported.
    #[error(
        "schema {found}, written by plumb {tool}, is not supported; this version of plumb reads 1 to {SCHEMA}"
    )]
    Newer { found: u32, tool: String },
    #[error(transparent)]
    Malformed(#[from] serde_json::Error),
}

/// Readable in all versions.
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
    /// Returns the original version, too. Fails for a later version.
    pub fn read(text: &str) -> Result<(Self, u32), ReadError> {
        let written = supported(serde_json::from_str(text)?)?;
        if written == SCHEMA {
            return Ok((serde_json::from_str(text)?, written));
        }
        let mut value = serde_json::from_str(text)?;
        upgrade_header(written, &mut value);
        Ok((serde_json::from_value(value)?, written))
    }
}

impl Trial {
    /// `written` is the schema version of its run.
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
    /// Fails for a later version.
    pub fn read(text: &str) -> Result<Self, ReadError> {
        let Head { header } = serde_json::from_str(text)?;
        let written = supported(header)?;
        if written == SCHEMA {
            return Ok(serde_json::from_str(text)?);
        }
        let mut value: Value = serde_json::from_str(text)?;
        value.get_mut("header").into_iter().for_each(|header| upgrade_header(written, header));
        for_each(value.get_mut("trials"), |trial| upgrade_trial(written, trial));
        Ok(serde_json::from_value(value)?)
    }
}

fn supported(Writer { schema, tool }: Writer) -> Result<u32, ReadError> {
    let supported = (1..=SCHEMA).contains(&schema);
    if supported { Ok(schema) } else { Err(ReadError::Newer { found: schema, tool }) }
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

/// Workloads have a transport, a mode and a schedule; socket options are in a table.
fn header_of_1(header: &mut Value) {
    for_each(header.get_mut("cells"), |cell| {
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

/// Measurements of datagrams, threads and open loops. Busy hosts are detected from the load average in the header.
fn trial_of_1(trial: &mut Value) {
    if let Some(doubts) = trial.get_mut("doubts").and_then(Value::as_array_mut) {
        doubts.retain(|doubt| doubt["kind"] != "busy-host");
    }
    let Some(measurement) = trial.get_mut("measurement") else { return };
    for_each(measurement.get_mut("flows"), |flow| {
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
    for_each(end.get_mut("intervals"), |interval| {
        add(interval.get_mut("tcp"), &json!({ "reorderings": 0, "out_of_order": 0, "offered_window": 0 }));
    });
}

fn socket_of_2() -> Value {
    json!({ "zero_copy": false, "ran_on": [] })
}

/// The workload may also come from an imported log.
fn header_of_2(header: &mut Value) {
    for_each(header.get_mut("cells"), |cell| {
        let Some(cell) = cell.as_object_mut() else { return };
        if let Some(load) = cell.remove("load") {
            cell.insert("sent".to_owned(), json!({ "load": load }));
        }
    });
}

fn for_each(list: Option<&mut Value>, change: impl FnMut(&mut Value)) {
    list.and_then(Value::as_array_mut).into_iter().flatten().for_each(change);
}

fn add(to: Option<&mut Value>, missing: &Value) {
    let Some(to) = to.and_then(Value::as_object_mut) else { return };
    for (key, value) in missing.as_object().into_iter().flatten() {
        to.entry(key).or_insert_with(|| value.clone());
    }
}
