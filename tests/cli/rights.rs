//! Drops capabilities with setpriv(1) and checks the output of `plumb doctor --rights` for each.

use std::process::Output;

use plumb_tests::{Sandbox, wire};
use serde_json::Value;

use crate::{fallback::bounded, sandbox};

fn with(sandbox: &Sandbox, kept: &[&str], arguments: &[&str]) -> Output {
    let kept = kept.iter().map(|name| format!(",+{}", name.trim_start_matches("CAP_").to_lowercase()));
    let set = format!("-all{}", kept.collect::<String>());
    bounded(sandbox, &set, arguments).output().expect("util-linux has it")
}

fn printed(output: &Output) -> String {
    [&output.stdout[..], &output.stderr].map(|printed| String::from_utf8_lossy(printed).into_owned()).concat()
}

fn uses(kept: &[&str]) -> Vec<(Vec<String>, Option<String>, bool)> {
    let output = with(&sandbox(), kept, &["doctor", "--rights", "--json"]);
    let document: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", printed(&output)));
    let text = |value: &Value| value.as_str().map(ToOwned::to_owned);
    let each = document["rights"].as_array().expect("a list").iter().map(|right| {
        let names = right["capabilities"].as_array().expect("a list").iter().filter_map(text).collect();
        (names, text(&right["or"]), right["available"] == true)
    });
    each.collect()
}

pub(crate) fn reports_each_capability() {
    let all = uses(&[]);
    assert!(all.len() >= 5 && all.iter().all(|(.., held)| !held), "{all:?}");
    for (names, ..) in &all {
        let kept: Vec<&str> = names.iter().map(String::as_str).collect();
        for (others, or, held) in uses(&kept) {
            let is_kept = others.iter().chain(&or).all(|name| names.contains(name)) || &others == names;
            let alternative = or.is_some_and(|or| names.contains(&or));
            assert_eq!(held, is_kept || alternative, "{others:?} with {kept:?}");
        }
    }
}

pub(crate) fn lab_and_its_probes_need_two() {
    let sandbox = sandbox();
    let file = sandbox.file("wire.toml", &wire(1, "200ms"));
    let run = ["run", &file, "--probe", "syscalls"];
    let output = with(&sandbox, &["CAP_SYS_ADMIN", "CAP_NET_ADMIN"], &run);
    let text = printed(&output);
    assert!(output.status.success(), "{text}");
    assert!(!text.contains("without probes") && !text.contains("user namespace"), "{text}");
    let output = with(&sandbox, &["CAP_BPF"], &["server", "-p", "5999"]);
    assert_eq!(output.status.code(), Some(1), "{}", printed(&output));
    assert!(printed(&output).contains("cannot become user nobody"), "{}", printed(&output));
}
