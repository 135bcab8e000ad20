//! Tests that invalid records are rejected. Unit tests would compile all record types twice.

use samples::{RunHeader, RunRecord, SCHEMA, Trial};
use serde_json::json;

#[test]
fn error_names_unknown_schema_and_its_writer() {
    for found in [0, SCHEMA + 1, u32::MAX] {
        let header = json!({ "schema": found, "tool": "9.9.9" });
        for error in [
            RunHeader::read(&header.to_string()).map(drop),
            RunRecord::read(&json!({ "header": header }).to_string()).map(drop),
        ] {
            let message = error.expect_err("unknown").to_string();
            assert!(message.contains(&found.to_string()) && message.contains("plumb 9.9.9"), "{message}");
        }
    }
}

#[test]
fn rejects_invalid_records_without_panic() {
    for odd in ["null", "7", "[]", "{}", "[null]", "{\"intervals\":7}", "{\"kind\":\"ping-pong\"}"] {
        for key in ["results", "measurement", "warnings", "flows", "load"] {
            let text = format!("{{\"schema\":1,\"tool\":\"0\",\"{key}\":{odd}}}");
            assert!(RunHeader::read(&text).is_err() && Trial::read(&text).is_err(), "{text}");
        }
        assert!(Trial::read(odd).is_err(), "{odd}");
    }
}
