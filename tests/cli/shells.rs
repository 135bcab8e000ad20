//! Shell completions and manual pages.

use std::process::Command;

use crate::sandbox;

const COMPLETE: &str = r#"source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _plumb plumb "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"; echo "${COMPREPLY[@]}""#;

pub(crate) fn bash_completes_commands_flags_and_scenarios() {
    let sandbox = sandbox();
    let script = sandbox.file("plumb.bash", &sandbox.succeed(&["completions", "bash"]).out);
    for (typed, expected) in [
        (&["plumb", "scen"][..], "scenario"),
        (&["plumb", "run", "qui"], "quick"),
        (&["plumb", "run", "--try"], "--try-remedies"),
        (&["plumb", "scenario", "ch"], "check"),
    ] {
        let mut bash = Command::new("bash");
        let completed =
            bash.args(["--norc", "-c", COMPLETE, "bash", &script]).args(typed).output().expect("bash starts");
        let printed = String::from_utf8_lossy(&completed.stdout);
        assert_eq!(printed.trim(), expected, "{typed:?}: {}", String::from_utf8_lossy(&completed.stderr));
    }
    assert!(sandbox.succeed(&["completions", "zsh"]).out.contains("egress-gateway"));
    assert!(sandbox.succeed(&["completions", "fish"]).out.contains("try-remedies"));
}

pub(crate) fn every_command_has_a_manual_page() {
    let sandbox = sandbox();
    let folder = sandbox.file("man", "").replace("/man", "/pages");
    let _ = sandbox.succeed(&["man", "-o", &folder]);
    for page in ["plumb.1", "plumb-run.1", "plumb-scenario-check.1", "plumb-vm-run.1"] {
        let text = std::fs::read_to_string(format!("{folder}/{page}"))
            .unwrap_or_else(|error| panic!("{page}: {error}"));
        assert!(text.contains(".TH") && text.contains("plumb"), "{page}: {text}");
    }
    assert!(!std::path::Path::new(&format!("{folder}/plumb-held.1")).exists(), "it is internal");
    let page = sandbox.succeed(&["man", "scenario", "check"]).out;
    for section in ["SYNOPSIS", "EXAMPLES", "\"EXIT STATUS\"", "FILES", "ENVIRONMENT"] {
        assert!(page.contains(&format!(".SH {section}\n")), "{section}: {page}");
    }
    assert!(page.contains("scenario") && !page.contains(".SH EXTRA"), "{page}");
    let wrong = sandbox.plumb(&["man", "rum"]);
    assert!(wrong.status == Some(64) && wrong.err.contains("no subcommand `rum`"), "{wrong:?}");
}
