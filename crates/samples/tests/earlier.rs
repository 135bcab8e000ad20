//! Texts that are no records. Apart from the crate: with its unit tests all records would be compiled twice.

use samples::{RunHeader, RunRecord, SCHEMA, Trial};
use serde_json::json;

#[test]
fn a_version_that_is_not_known_is_named_with_its_writer() {
    for found in [0, SCHEMA + 1, u32::MAX] {
        let header = json!({ "schema": found, "tool": "9.9.9" });
        for error in [
            RunHeader::read(&header.to_string()).map(drop),
            RunRecord::read(&json!({ "header": header }).to_string()).map(drop),
        ] {
            let said = error.expect_err("unknown").to_string();
            assert!(said.contains(&found.to_string()) && said.contains("plumb 9.9.9"), "{said}");
        }
    }
}

#[test]
fn a_text_with_anything_in_it_is_read_or_refused_and_never_panics() {
    for odd in ["null", "7", "[]", "{}", "[null]", "{\"intervals\":7}", "{\"kind\":\"ping-pong\"}"] {
        for key in ["cells", "measurement", "doubts", "flows", "load"] {
            let text = format!("{{\"schema\":1,\"tool\":\"0\",\"{key}\":{odd}}}");
            assert!(RunHeader::read(&text).is_err() && Trial::read(1, &text).is_err(), "{text}");
        }
        assert!(Trial::read(1, odd).is_err(), "{odd}");
    }
}
