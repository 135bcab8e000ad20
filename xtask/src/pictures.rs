//! `cargo xtask pictures`: draws the charts of docs/guide/pictures.md.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::{env, fs};

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::workspace::Workspace;

#[derive(Args)]
pub(crate) struct Request {
    /// Draw only pictures with this in their name
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Skip pictures of runs, which take minutes on a quiet machine
    #[arg(long)]
    no_runs: bool,
}

const FOLDER: &str = "docs/guide/pictures";
const DATA: &str = "crates/import/tests/data";
const IN_ENGLISH: [(&str, &str); 2] = [("채널 수", "Streams"), ("대역폭", "Throughput")];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Run,
    Again,
    Import(&'static str),
}

const PICTURES: &[(&str, Source, &[&str])] = &[
    ("layers", Source::Run, &["--kind", "layers"]),
    ("percentiles", Source::Import("flent-tcp-download.flent"), &["--kind", "percentiles"]),
    ("cdf", Source::Import("flent-tcp-download.flent"), &["--kind", "cdf"]),
    ("histogram", Source::Import("flent-tcp-download.flent"), &["--kind", "histogram"]),
    ("latency-breakdown", Source::Run, &["--kind", "latency-breakdown"]),
    ("cpu-attribution", Source::Run, &["--kind", "cpu-attribution"]),
    ("system-calls", Source::Run, &["--kind", "system-calls"]),
    ("time-series", Source::Import("flent-tcp-download.flent"), &["--kind", "time-series"]),
    ("comparison", Source::Again, &["--kind", "comparison"]),
    ("sweep", Source::Import("queues-and-channels.md"), &["--kind", "sweep"]),
    ("heat-map", Source::Import("queues-and-channels.md"), &["--kind", "heat-map"]),
    ("frontier", Source::Import("queues-and-channels.md"), &["--kind", "frontier"]),
    ("results", Source::Import("vhost-net.md"), &["--kind", "results"]),
    ("write-up-vxlan", Source::Import("vxlan.md"), &["--kind", "time-series"]),
    ("write-up-vmm", Source::Import("vmm-comparison.md"), &["--kind", "results", "--number", "7"]),
    ("write-up-system-calls", Source::Import("strace-elapsed.txt"), &["--kind", "system-calls"]),
];

pub(crate) fn run(workspace: &Workspace, request: &Request) -> Result<ExitCode> {
    let plumb = workspace.plumb()?;
    let home = tempfile::tempdir()?;
    let stage = Stage { plumb: &plumb, home: home.path(), root: &workspace.root };
    let wanted = |name: &str| request.only.as_ref().is_none_or(|only| name.contains(only.as_str()));
    let is_drawn = |source: &Source| !request.no_runs || matches!(source, Source::Import(_));
    let chosen: Vec<_> =
        PICTURES.iter().filter(|(name, source, _)| wanted(name) && is_drawn(source)).collect();
    let of = |source: Source| chosen.iter().any(|(_, of, _)| *of == source);
    let [mut first, mut second] = [String::new(), String::new()];
    if of(Source::Run) || of(Source::Again) {
        first = stage.measured(&["run", "quick", "--probe", "all"])?;
    }
    if of(Source::Again) {
        second = stage.measured(&["run", "quick", "--trials", "5"])?;
    }
    fs::create_dir_all(workspace.root.join(FOLDER))?;
    for (name, source, asked) in chosen {
        let file = format!("{FOLDER}/{name}.svg");
        let numbers = match source {
            Source::Run => vec![first.clone()],
            Source::Again => vec![second.clone(), "--against".to_owned(), first.clone()],
            Source::Import(log) => vec![stage.in_english(log)?],
        };
        let numbers: Vec<&str> = numbers.iter().map(String::as_str).collect();
        stage.typed(&[&["plot"], numbers.as_slice(), asked, &["-o", &file]].concat())?;
        println!("wrote {file}");
    }
    Ok(ExitCode::SUCCESS)
}

struct Stage<'a> {
    plumb: &'a Path,
    home: &'a Path,
    root: &'a Path,
}

impl Stage<'_> {
    fn in_english(&self, log: &str) -> Result<String> {
        let text =
            fs::read_to_string(self.root.join(DATA).join(log)).with_context(|| format!("read {log}"))?;
        let text = IN_ENGLISH.iter().fold(text, |text, (head, english)| text.replace(head, english));
        let path = self.home.join(log);
        fs::write(&path, text)?;
        Ok(path.display().to_string())
    }

    fn measured(&self, command: &[&str]) -> Result<String> {
        self.typed(command)?;
        let record = self.typed(&["report", "latest", "--format", "json"])?;
        let (_, rest) = record.split_once("\"id\"").context("a report names its run")?;
        Ok(rest.split('"').nth(1).context("a run's name is a word")?.to_owned())
    }

    fn typed(&self, command: &[&str]) -> Result<String> {
        let mut plumb = Command::new(self.plumb);
        plumb.args(command).current_dir(self.root).env("HOME", self.home).env_remove("XDG_DATA_HOME");
        plumb.env("PATH", env::var("PATH").unwrap_or_default());
        let done = plumb.output().with_context(|| format!("run plumb {}", command.join(" ")))?;
        let text = String::from_utf8_lossy(&done.stderr);
        ensure!(done.status.success(), "`plumb {}` exited with {}:\n{text}", command.join(" "), done.status);
        Ok(String::from_utf8_lossy(&done.stdout).into_owned())
    }
}
