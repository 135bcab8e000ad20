//! Examples for every page of help. Must not know what the commands do.

use clap::Command;

/// What a page is of, and lines to type, each with what it does.
type Examples = (&'static str, &'static [(&'static str, &'static str)]);

const EXAMPLES: &[Examples] = &[
    (
        "member",
        &[
            ("plumb member /etc/plumb/rack-1.toml", "until Ctrl-C, or as a service"),
            ("plumb member ./rack-1.toml", "as this user, beside its key"),
        ],
    ),
    (
        "fleet",
        &[
            (
                "plumb fleet init tls://broker.example:4222",
                "a folder for keys, and the server's configuration",
            ),
            ("plumb fleet list", "the members that are there"),
        ],
    ),
    (
        "fleet list",
        &[
            ("plumb fleet list", "name, version, devices"),
            ("plumb fleet list --json", "the same for programs"),
        ],
    ),
    (
        "fleet scenario",
        &[
            ("plumb fleet scenario rack", "rack.toml, of all members that are there"),
            ("plumb fleet scenario rack -o - | less", "to look at it first"),
        ],
    ),
    (
        "fleet drain",
        &[
            ("plumb fleet drain rack-1", "before work on its host; returns when nothing is under way"),
            ("plumb fleet drain rack-1 --undo", "after it"),
        ],
    ),
    (
        "fleet init",
        &[
            ("plumb fleet init tls://broker.example:4222", "in the folder fleet"),
            ("plumb fleet init nats://198.18.0.1:4222 --folder lab", "to try it, unencrypted"),
        ],
    ),
    (
        "fleet add",
        &[
            ("plumb fleet add ops --controller", "one who measures"),
            ("plumb fleet add rack-1", "a member, which obeys all of those"),
        ],
    ),
    (
        "fleet remove",
        &[
            ("plumb fleet remove rack-1", "its key opens nothing any more"),
            ("plumb fleet remove ops --folder lab", "of another fleet"),
        ],
    ),
    (
        "completions",
        &[
            ("plumb completions bash > /etc/bash_completion.d/plumb", "for every user of bash"),
            ("plumb completions zsh > ~/.zfunc/_plumb", "for one of zsh"),
        ],
    ),
    (
        "config",
        &[
            ("plumb config", "what holds, and where each comes from"),
            ("plumb config --json", "the same for programs"),
        ],
    ),
    (
        "man",
        &[
            ("plumb man run | man -l -", "the page of a subcommand"),
            ("plumb man -o /usr/local/share/man/man1", "all of them, for man(1)"),
        ],
    ),
    (
        "run",
        &[
            ("plumb run quick", "a bridge, a tunnel and a gateway, in a minute"),
            ("plumb run ./mine.toml --trials 7 -o mine.md", "your own scenario, and a report in a file"),
            ("plumb run egress-gateway --try-remedies", "and whether what it advises helps"),
        ],
    ),
    (
        "report",
        &[
            ("plumb report", "the last run: summary, chart, findings"),
            ("plumb report latest:quick --section latency", "one section, with all of its details"),
            ("plumb report -o run.html", "everything, for a browser"),
        ],
    ),
    (
        "plot",
        &[
            ("plumb plot", "which pictures the last run has"),
            ("plumb plot latest --kind layers -o cost.svg", "one of them, in a file"),
            ("plumb plot latest:quick -o pictures/", "all of them"),
        ],
    ),
    ("runs", &[("plumb runs", "what is kept"), ("plumb runs list --json", "the same for programs")]),
    (
        "runs list",
        &[("plumb runs list", "the newest first"), ("plumb runs list --json", "the same for programs")],
    ),
    (
        "runs remove",
        &[
            ("plumb runs remove quick-20261121-113015", "one run"),
            ("plumb runs remove quick-20261121 vhost-20261120", "by the beginnings of their names"),
        ],
    ),
    (
        "web",
        &[
            ("plumb web", "at http://127.0.0.1:7373/, for this machine alone"),
            ("plumb web --listen 198.18.0.2:7373 --token-file token", "for others, who need the token"),
        ],
    ),
    (
        "runs check",
        &[("plumb runs check", "all of them"), ("plumb runs check latest --json", "one, for programs")],
    ),
    (
        "runs repair",
        &[
            ("plumb runs repair", "when `plumb runs check` found something"),
            ("plumb runs repair --db old.db", "another file"),
        ],
    ),
    (
        "runs export",
        &[
            ("plumb runs export latest -o quick.json.gz", "the last run"),
            ("plumb report quick.json.gz", "its report, wherever the file is"),
        ],
    ),
    (
        "runs import",
        &[
            ("plumb runs import quick.json.gz", "what another machine exported"),
            ("plumb runs import report.html", "from a page that someone sent"),
        ],
    ),
    (
        "compare",
        &[
            ("plumb compare baseline:main latest", "what changed since"),
            ("plumb compare before.log after.log", "two logs of other tools"),
        ],
    ),
    (
        "check",
        &[
            ("plumb check latest --against main", "fails where more than 5 % are lost"),
            ("plumb check latest --against main --max-loss 10%", "more patient"),
        ],
    ),
    (
        "watch",
        &[
            ("plumb watch nightly.toml --dry-run", "what the next day would send"),
            ("plumb watch nightly.toml", "until Ctrl-C: a line a measurement"),
            ("plumb watch nightly.toml --once --json", "what is due now, for cron"),
        ],
    ),
    (
        "baseline",
        &[
            ("plumb baseline set main latest", "the last run is called main"),
            ("plumb baseline list", "what others are compared with"),
        ],
    ),
    (
        "baseline set",
        &[
            ("plumb baseline set main latest", "the last run is called main"),
            ("plumb baseline set before latest:quick", "the last one of a scenario"),
        ],
    ),
    (
        "baseline list",
        &[
            ("plumb baseline list", "names and their runs"),
            ("plumb baseline list --json", "the same for programs"),
        ],
    ),
    (
        "baseline show",
        &[("plumb baseline show main", "its report"), ("plumb baseline show before", "that of another")],
    ),
    (
        "baseline remove",
        &[
            ("plumb baseline remove before", "the name, and not the run"),
            ("plumb baseline remove main", "likewise"),
        ],
    ),
    (
        "import",
        &[
            ("plumb import iperf3.json sockperf.log", "logs of several tools"),
            ("plumb import --skip-unreadable logs/*.log", "what can be read of many files"),
            ("plumb import --name nightly results.md", "the tables of a document"),
        ],
    ),
    (
        "client",
        &[
            ("plumb client 198.18.0.2 -P 4", "four connections, ten seconds"),
            ("plumb client 198.18.0.2 --repeat 5", "five trials, and the interval that they give"),
        ],
    ),
    (
        "ping",
        &[
            ("plumb ping 198.18.0.2 --rate 10k --under max", "by the clock, beside a stream"),
            ("plumb ping 198.18.0.2 --connect --repeat 5", "connections a second, five trials"),
        ],
    ),
    (
        "server",
        &[
            ("plumb server", "for every client, on every address, port 5201"),
            ("plumb server -B 198.18.0.2 --once", "on one address, for one client"),
        ],
    ),
    (
        "scenario",
        &[
            ("plumb scenario list", "what is built in"),
            ("plumb scenario check ./mine.toml", "mistakes, or what it would measure"),
        ],
    ),
    (
        "scenario list",
        &[
            ("plumb scenario list", "what is built in"),
            ("plumb scenario list --json", "the same for programs"),
        ],
    ),
    (
        "scenario new",
        &[
            (
                "plumb scenario new mine --with overlay",
                "mine.toml: an overlay between two hosts, with comments",
            ),
            ("plumb scenario new mine --output -", "two guests on a bridge, on standard output"),
        ],
    ),
    (
        "scenario show",
        &[
            ("plumb scenario show quick", "its document, to begin with"),
            ("plumb scenario show proxmox-vxlan --variant full", "with a variant's changes"),
        ],
    ),
    (
        "scenario check",
        &[
            ("plumb scenario check ./mine.toml", "mistakes, or what it would measure"),
            ("plumb scenario check quick", "a built-in one's plan"),
        ],
    ),
    ("scenario schema", &[("plumb scenario schema", "for an editor"), ("plumb schema scenario", "the same")]),
    (
        "explain",
        &[
            ("plumb explain offload-off", "what it looks at, when it is wrong, what to do"),
            ("plumb explain --list", "every finding"),
        ],
    ),
    (
        "schema",
        &[
            ("plumb schema scenario", "what a scenario may say"),
            ("plumb schema findings", "what a report in JSON holds"),
        ],
    ),
    (
        "lab",
        &[
            ("plumb lab up quick", "its hosts and links, until they are taken down"),
            ("plumb lab shell node1 -- ip -d link", "a command in one of its hosts"),
        ],
    ),
    (
        "lab up",
        &[
            ("plumb lab up quick", "until `plumb lab down`"),
            ("plumb lab up ./mine.toml --name mine --foreground", "until this command ends"),
        ],
    ),
    (
        "lab list",
        &[("plumb lab list", "those that stand"), ("plumb lab list --json", "the same for programs")],
    ),
    (
        "lab shell",
        &[
            ("plumb lab shell node1", "a shell"),
            ("plumb lab shell node1 --lab quick -- tcpdump -ni eth0", "a command, in one of several labs"),
        ],
    ),
    ("lab down", &[("plumb lab down quick", "one"), ("plumb lab down --all", "every one")]),
    (
        "lab gc",
        &[("plumb lab gc", "what a crash has left"), ("plumb lab list", "what is up and is meant to be")],
    ),
    (
        "trace",
        &[
            ("plumb trace --pid 1200", "what it does, for 10 s"),
            ("plumb trace --qemu web --for 30s", "a virtual machine: vCPUs, QEMU, vhost threads"),
            ("plumb trace -o a.json -- iperf3 -c host", "a program from its beginning to its end"),
            ("plumb trace --compare a.json b.json", "two traces side by side"),
        ],
    ),
    (
        "measure",
        &[
            ("plumb measure --qemu web", "by its guest's name, for 10 s"),
            ("plumb measure --qemu 1200 --for 30s", "by its process"),
            (
                "plumb measure --qemu /run/web.qmp",
                "by its monitor, which also tells what the guest's driver took",
            ),
        ],
    ),
    (
        "vm",
        &[
            ("plumb vm run", "boot a guest, and see what it is"),
            ("plumb vm run --queues 4 --vhost on", "with a network device"),
        ],
    ),
    (
        "vm run",
        &[
            ("plumb vm run --vcpus 2", "boot a guest, and see what it is"),
            ("plumb vm run --queues 4 --vhost on", "with a network device"),
        ],
    ),
    (
        "rebalance",
        &[
            ("plumb rebalance vms.toml --dry-run --rounds 1", "who has what, and what would be moved"),
            ("plumb rebalance vms.toml --metrics /run/plumb.prom", "until it is interrupted"),
        ],
    ),
    (
        "memory",
        &[
            ("plumb memory top vms.toml --once", "what each machine has, uses and accesses"),
            ("plumb memory accuracy", "how well that can be told here"),
        ],
    ),
    (
        "memory top",
        &[
            ("plumb memory top vms.toml", "a live table"),
            ("plumb memory top vms.toml --once --json", "one look, for programs"),
        ],
    ),
    (
        "memory report",
        &[
            ("plumb memory report memory.jsonl", "what a record tells, on the terminal"),
            ("plumb memory report memory.jsonl -o memory.html", "as a page with pictures"),
        ],
    ),
    (
        "memory accuracy",
        &[
            ("plumb memory accuracy", "what tells of accesses here, and how well"),
            ("plumb memory accuracy --looks 10 --json", "more looks, for programs"),
        ],
    ),
    (
        "memory compare",
        &[
            ("plumb memory compare", "a quarter of an hour, emulated"),
            ("plumb memory compare --phases 1 --looks 6", "a shorter one"),
        ],
    ),
    (
        "doctor",
        &[
            ("plumb doctor", "can this machine measure?"),
            ("plumb doctor --json", "the same for programs"),
            ("plumb doctor --rights", "what root's rights are used for"),
        ],
    ),
];

/// The same tree, with examples on every page.
pub(crate) fn on_every_page(tree: Command) -> Command {
    tree.mut_subcommands(|command| with_examples(command, ""))
}

fn with_examples(command: Command, above: &str) -> Command {
    let name = format!("{above}{}", command.get_name());
    let below = format!("{name} ");
    let command = command.mut_subcommands(|command| with_examples(command, &below));
    let Some((_, examples)) = EXAMPLES.iter().find(|(page, _)| *page == name) else { return command };
    let width = examples.iter().map(|(typed, _)| typed.len()).max().unwrap_or(0);
    let lines: Vec<String> = examples.iter().map(|(typed, does)| line(typed, does, width)).collect();
    let rest = command.get_after_help().map(|rest| format!("\n\n{rest}")).unwrap_or_default();
    command.after_help(format!("Examples:\n{}{rest}", lines.join("\n")))
}

/// On one line where eighty columns hold it.
fn line(typed: &str, does: &str, width: usize) -> String {
    let line = format!("  {typed:width$}  # {does}");
    if line.chars().count() <= 80 { line } else { format!("  {typed}\n    # {does}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Args;
    use clap::CommandFactory;

    fn pages(command: &Command, above: &str) -> Vec<String> {
        let visible = command.get_subcommands().filter(|command| !command.is_hide_set());
        visible
            .flat_map(|command| {
                let name = format!("{above}{}", command.get_name());
                let below = pages(command, &format!("{name} "));
                [name].into_iter().chain(below)
            })
            .collect()
    }

    #[test]
    fn every_page_has_two_examples_and_every_example_a_page() {
        let pages = pages(&Args::command(), "");
        for page in &pages {
            let examples = EXAMPLES.iter().find(|(name, _)| name == page);
            assert!(examples.is_some_and(|(_, examples)| examples.len() >= 2), "{page}");
        }
        for (page, _) in EXAMPLES {
            assert!(pages.iter().any(|known| known == page), "{page}");
        }
    }

    #[test]
    fn every_example_can_be_typed() {
        for (typed, _) in EXAMPLES.iter().flat_map(|(_, examples)| *examples) {
            // What a shell makes of the rest is no business of plumb's.
            let own = typed.split(['>', '|']).next().unwrap_or_default();
            let parsed = Args::command().try_get_matches_from(own.split_whitespace());
            assert!(parsed.is_ok(), "{typed}: {}", parsed.expect_err("it was refused"));
        }
    }
}
