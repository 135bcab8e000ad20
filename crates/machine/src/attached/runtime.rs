//! Runs the command-line clients of container runtimes.

use std::{io::ErrorKind, process::Command};

use serde::de::DeserializeOwned;

use super::AttachError;

pub(super) enum Answer<T> {
    NotInstalled,
    Failed(String),
    Found(T),
}

pub(super) fn ask<T: DeserializeOwned>(program: &str, arguments: &[&str]) -> Result<Answer<T>, AttachError> {
    let output = match Command::new(program).args(arguments).env_remove(crate::STORE).output() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Answer::NotInstalled),
        Err(error) => return Ok(Answer::Failed(error.to_string())),
        Ok(output) => output,
    };
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Ok(Answer::Failed(errors.trim().to_owned()));
    }
    match serde_json::from_slice(&output.stdout) {
        Ok(found) => Ok(Answer::Found(found)),
        Err(error) => {
            Err(AttachError::Output { command: written(program, arguments), reason: error.to_string() })
        }
    }
}

pub(super) fn failed(program: &str, arguments: &[&str], reason: &str) -> AttachError {
    let any = |words: &[&str]| words.iter().any(|word| reason.contains(word));
    let advice = if any(&["permission denied", "Permission denied"]) {
        "run plumb as root, or as a user who may use the container runtime"
    } else if any(&["Cannot connect", "connect: no such file", "connection refused", "DeadlineExceeded"]) {
        "check that the container runtime is running"
    } else {
        "run this command yourself to find the cause"
    };
    AttachError::Runtime { command: written(program, arguments), reason: last_line(reason), advice }
}

pub(super) fn last_line(output: &str) -> String {
    output.lines().last().unwrap_or("it printed no reason").to_owned()
}

/// Returns no lines if the command fails.
pub(super) fn lines(program: &str, arguments: &[&str]) -> Vec<String> {
    let output = Command::new(program).args(arguments).env_remove(crate::STORE).output();
    let printed = output.map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&printed).lines().map(str::to_owned).collect()
}

fn written(program: &str, arguments: &[&str]) -> String {
    format!("{program} {}", arguments.join(" "))
}
