//! Tests the diagnostics of invalid scenarios. Each case is a change to a valid scenario.

mod existing_hosts;
mod lab;
mod links;
mod probes;
mod run;
mod shape;
mod tunnels;
mod variants;
mod vms;
mod workloads;

use scenario::{Place, Scenario, builtin};

fn changed(name: &str, from: &str, to: &str) -> String {
    let text = builtin::find(name).expect("built in").text;
    assert!(text.contains(from), "outdated case: {name} does not contain {from}");
    text.replacen(from, to, 1)
}

fn problems(text: &str) -> Vec<Place> {
    match Scenario::parse("test", text) {
        Ok(_) => panic!("the scenario has no problems"),
        Err(diagnosis) => diagnosis.problems().collect(),
    }
}

#[track_caller]
fn check(name: &str, (from, to): (&str, &str), at: &str, message: &str, help: &str) {
    check_text(&changed(name, from, to), at, message, help);
}

#[track_caller]
fn check_text(text: &str, at: &str, message: &str, help: &str) {
    let problems = problems(text);
    let found = problems.iter().find(|problem| problem.message.contains(message));
    let problem = found.unwrap_or_else(|| panic!("no `{message}` among {problems:#?}"));
    let line = text.lines().nth(problem.line - 1).unwrap_or_default();
    assert!(line.contains(at), "line {} is `{line}`, not `{at}`", problem.line);
    let given = problem.help.as_deref().unwrap_or_default();
    assert!(given.contains(help), "the help is `{given}`, not `{help}`");
}
