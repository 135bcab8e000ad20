//! The list of house rules. Each rule has its own file.

mod cycles;
mod deny;
mod edges;
mod file_size;
mod fmt;
mod generated;
mod kinds;
mod links;
mod lints;
mod machine_paths;
mod module_docs;
mod phrases;
pub(crate) mod plain_words;
mod script;
mod shapes;
mod tokens;
mod unsafe_code;
mod words;

use anyhow::Result;

use crate::workspace::Workspace;

pub(crate) struct Rule {
    pub(crate) name: &'static str,
    pub(crate) hold: fn(&Workspace) -> Result<Verdict>,
}

pub(crate) const RULES: &[Rule] = &[
    Rule { name: "edges", hold: edges::hold },
    Rule { name: "module-docs", hold: module_docs::hold },
    Rule { name: "file-size", hold: file_size::hold },
    Rule { name: "words", hold: words::hold },
    Rule { name: "phrases", hold: phrases::hold },
    Rule { name: "plain-words", hold: plain_words::hold },
    Rule { name: "unsafe", hold: unsafe_code::hold },
    Rule { name: "kinds", hold: kinds::hold },
    Rule { name: "shapes", hold: shapes::hold },
    Rule { name: "cycles", hold: cycles::hold },
    Rule { name: "links", hold: links::hold },
    Rule { name: "tokens", hold: tokens::hold },
    Rule { name: "machine-paths", hold: machine_paths::hold },
    Rule { name: "script", hold: script::hold },
    Rule { name: "fmt", hold: fmt::hold },
    Rule { name: "deny", hold: deny::hold },
    Rule { name: "clippy", hold: lints::hold },
    Rule { name: "generated", hold: generated::hold },
];

pub(crate) enum Verdict {
    Held,
    /// There is nothing to check yet.
    Skipped(String),
    Broken {
        advice: String,
        places: Vec<String>,
    },
}

impl Verdict {
    pub(crate) fn broken(advice: &str, places: Vec<String>) -> Self {
        if places.is_empty() { Self::Held } else { Self::Broken { advice: advice.to_owned(), places } }
    }

    pub(crate) fn failed(error: &anyhow::Error) -> Self {
        Self::Broken { advice: format!("could not be checked: {error:#}"), places: Vec::new() }
    }
}
