//! The examples on all help pages. They do not depend on how the commands are implemented.

use clap::Command;

type Examples = (&'static str, &'static [(&'static str, &'static str)]);

const EXAMPLES: &[Examples] = &[
    (
        "member",
        &[
            ("plumb member /etc/plumb/rack-1.toml", "run until Ctrl-C, or as a service"),
            ("plumb member ./rack-1.toml", "as the current user, with the key in the same directory"),
        ],
    ),
    (
        "fleet",
        &[
            ("plumb fleet init tls://broker.example:4222", "create keys and the server's configuration"),
            ("plumb fleet list", "list connected members"),
        ],
    ),
    (
        "fleet list",
        &[("plumb fleet list", "names, versions, devices"), ("plumb fleet list --json", "as JSON")],
    ),
    (
        "fleet scenario",
        &[
            ("plumb fleet scenario rack", "write rack.toml with all connected members"),
            ("plumb fleet scenario rack -o - | less", "preview it"),
        ],
    ),
    (
        "fleet drain",
        &[
            ("plumb fleet drain rack-1", "before maintenance; returns when the host is idle"),
            ("plumb fleet drain rack-1 --undo", "after maintenance"),
        ],
    ),
    (
        "fleet init",
        &[
            ("plumb fleet init tls://broker.example:4222", "in the directory fleet"),
            ("plumb fleet init nats://198.18.0.1:4222 --folder lab", "for testing, unencrypted"),
        ],
    ),
    (
        "fleet add",
        &[
            ("plumb fleet add ops --controller", "a controller, which runs measurements"),
            ("plumb fleet add rack-1", "a member, which accepts all controllers"),
        ],
    ),
    (
        "fleet remove",
        &[
            ("plumb fleet remove rack-1", "revoke its access"),
            ("plumb fleet remove ops --folder lab", "in another fleet"),
        ],
    ),
    (
        "completions",
        &[
            ("plumb completions bash > /etc/bash_completion.d/plumb", "for all bash users"),
            ("plumb completions zsh > ~/.zfunc/_plumb", "for one zsh user"),
        ],
    ),
    (
        "config",
        &[("plumb config", "effective defaults and their sources"), ("plumb config --json", "as JSON")],
    ),
    (
        "man",
        &[
            ("plumb man run | man -l -", "the page of a subcommand"),
            ("plumb man -o /usr/local/share/man/man1", "all pages, for man(1)"),
        ],
    ),
    (
        "run",
        &[
            ("plumb run quick", "a bridge, a tunnel and a gateway, in a minute"),
            ("plumb run ./mine.toml --trials 7 -o mine.md", "your own scenario, with a report file"),
            ("plumb run egress-gateway --try-remedies", "also test the recommended remedies"),
        ],
    ),
    (
        "between",
        &[
            ("plumb between container:web container:db", "two containers of Docker or Podman"),
            ("plumb between pod:shop/cart-7d9 local", "a pod on this node and the node itself"),
            (
                "plumb between netns:/run/netns/blue pid:4711 --udp --rate 1G --report path.html",
                "limited UDP traffic, with a page",
            ),
        ],
    ),
    (
        "report",
        &[
            ("plumb report", "the last run: summary, chart, findings"),
            ("plumb report latest:quick --section latency", "one section in detail"),
            ("plumb report -o run.html", "the complete report, for a browser"),
        ],
    ),
    (
        "vs",
        &[
            ("plumb vs quick:node-to-node quick:vxlan-to-vxlan", "two paths of a scenario"),
            ("plumb vs 198.18.0.2 198.18.0.3 -- -P 4", "two servers, with flags of the client"),
        ],
    ),
    (
        "plot",
        &[
            ("plumb plot", "list the charts of the last run"),
            ("plumb plot latest --kind layers -o cost.svg", "write one chart"),
            ("plumb plot latest:quick -o pictures/", "write all charts"),
            ("plumb plot a.flent b.flent --kind cdf -o cdf.png", "several runs in one chart"),
        ],
    ),
    ("runs", &[("plumb runs", "list stored runs"), ("plumb runs list --json", "as JSON")]),
    ("runs list", &[("plumb runs list", "newest first"), ("plumb runs list --json", "as JSON")]),
    (
        "runs history",
        &[
            ("plumb runs history quick", "level shifts, drifts and the newest run"),
            ("plumb runs history quick --json", "as JSON"),
        ],
    ),
    (
        "runs remove",
        &[
            ("plumb runs remove quick-20261121-113015", "one run"),
            ("plumb runs remove quick-20261121 vhost-20261120", "several, by prefix"),
        ],
    ),
    (
        "web",
        &[
            ("plumb web", "at http://127.0.0.1:7373/, only for this machine"),
            ("plumb web --listen 198.18.0.2:7373 --token-file token", "for other machines, with a token"),
        ],
    ),
    (
        "runs check",
        &[("plumb runs check", "all runs"), ("plumb runs check latest --json", "one run, as JSON")],
    ),
    (
        "runs repair",
        &[
            ("plumb runs repair", "after `plumb runs check` reported damage"),
            ("plumb runs repair --db old.db", "another file"),
        ],
    ),
    (
        "runs export",
        &[
            ("plumb runs export latest -o quick.json.gz", "the last run"),
            ("plumb report quick.json.gz", "report an exported file"),
        ],
    ),
    (
        "runs import",
        &[
            ("plumb runs import quick.json.gz", "an export from another machine"),
            ("plumb runs import report.html", "a report page"),
        ],
    ),
    (
        "compare",
        &[
            ("plumb compare baseline:main latest", "what changed"),
            ("plumb compare before.log after.log", "logs of other tools"),
        ],
    ),
    (
        "check",
        &[
            ("plumb check latest --against main", "fail on a regression of more than 5 %"),
            ("plumb check latest --against main --max-loss 10%", "of more than 10 %"),
        ],
    ),
    (
        "watch",
        &[
            ("plumb watch nightly.toml --dry-run", "forecast the next day"),
            ("plumb watch nightly.toml", "run until Ctrl-C; one line per measurement"),
            ("plumb watch nightly.toml --once --json", "only what is due, e.g. from cron"),
        ],
    ),
    (
        "baseline",
        &[
            ("plumb baseline set main latest", "name the last run main"),
            ("plumb baseline list", "names and their runs"),
        ],
    ),
    (
        "baseline set",
        &[
            ("plumb baseline set main latest", "name the last run main"),
            ("plumb baseline set before latest:quick", "the last run of a scenario"),
        ],
    ),
    (
        "baseline list",
        &[("plumb baseline list", "names and their runs"), ("plumb baseline list --json", "as JSON")],
    ),
    (
        "baseline show",
        &[
            ("plumb baseline show main", "report the run named main"),
            ("plumb baseline show before", "another baseline"),
        ],
    ),
    (
        "baseline remove",
        &[
            ("plumb baseline remove before", "remove the name, not the run"),
            ("plumb baseline remove main", "likewise"),
        ],
    ),
    (
        "import",
        &[
            ("plumb import iperf3.json sockperf.log", "logs of several tools"),
            ("plumb import --skip-unreadable logs/*.log", "skip files that cannot be read"),
            ("plumb import --name nightly results.md", "the tables of a document"),
        ],
    ),
    (
        "client",
        &[
            ("plumb client 198.18.0.2 -P 4", "four connections, ten seconds"),
            ("plumb client 198.18.0.2 --repeat 5", "five trials, for a confidence interval"),
        ],
    ),
    (
        "ping",
        &[
            ("plumb ping 198.18.0.2 --rate 10k --under max", "open loop, with a background stream"),
            ("plumb ping 198.18.0.2 --connect --repeat 5", "connections per second, five trials"),
        ],
    ),
    (
        "server",
        &[
            ("plumb server", "all addresses, port 5201"),
            ("plumb server -B 198.18.0.2 --once", "one address, one client"),
        ],
    ),
    (
        "scenario",
        &[
            ("plumb scenario list", "built-in scenarios"),
            ("plumb scenario check ./mine.toml", "show errors, or the plan"),
        ],
    ),
    (
        "scenario list",
        &[("plumb scenario list", "built-in scenarios"), ("plumb scenario list --json", "as JSON")],
    ),
    (
        "scenario new",
        &[
            ("plumb scenario new mine --with overlay", "mine.toml: two hosts with an overlay, commented"),
            ("plumb scenario new mine --output -", "two guests on a bridge, to standard output"),
        ],
    ),
    (
        "scenario show",
        &[
            ("plumb scenario show quick", "as a starting point"),
            ("plumb scenario show proxmox-vxlan --variant full", "with a variant applied"),
        ],
    ),
    (
        "scenario check",
        &[
            ("plumb scenario check ./mine.toml", "show errors, or the plan"),
            ("plumb scenario check quick", "the plan of a built-in scenario"),
        ],
    ),
    ("scenario schema", &[("plumb scenario schema", "for an editor"), ("plumb schema scenario", "the same")]),
    (
        "explain",
        &[
            ("plumb explain offload-off", "detection, limitations, remedies"),
            ("plumb explain latest", "all findings, hints and warnings of a run"),
            ("plumb explain", "list all findings"),
        ],
    ),
    (
        "schema",
        &[
            ("plumb schema scenario", "the scenario format"),
            ("plumb schema findings", "the JSON report format"),
        ],
    ),
    (
        "lab",
        &[
            ("plumb lab up quick", "create its hosts and links"),
            ("plumb lab shell node1 -- ip -d link", "run a command in one of its hosts"),
        ],
    ),
    (
        "lab up",
        &[
            ("plumb lab up quick", "until `plumb lab down`"),
            ("plumb lab up ./mine.toml --name mine --foreground", "until this command ends"),
        ],
    ),
    ("lab list", &[("plumb lab list", "running labs"), ("plumb lab list --json", "as JSON")]),
    (
        "lab shell",
        &[
            ("plumb lab shell node1", "a shell"),
            ("plumb lab shell node1 --lab quick -- tcpdump -ni eth0", "a command, with several labs running"),
        ],
    ),
    ("lab down", &[("plumb lab down quick", "one"), ("plumb lab down --all", "all labs")]),
    ("lab gc", &[("plumb lab gc", "remove remains of crashed labs"), ("plumb lab list", "running labs")]),
    (
        "trace",
        &[
            ("plumb trace --pid 1200", "a process, for 10 s"),
            ("plumb trace --qemu web --for 30s", "a virtual machine: vCPUs, QEMU, vhost threads"),
            ("plumb trace -o a.json -- iperf3 -c host", "a program, from start to exit"),
            ("plumb trace --compare a.json b.json", "compare two traces"),
        ],
    ),
    (
        "measure",
        &[
            ("plumb measure --qemu web", "by the guest's name, for 10 s"),
            ("plumb measure --qemu 1200 --for 30s", "by PID"),
            (
                "plumb measure --qemu /run/web.qmp",
                "by its monitor, which also shows the features negotiated by the guest driver",
            ),
        ],
    ),
    (
        "vm",
        &[
            ("plumb vm run", "boot a guest and show its properties"),
            ("plumb vm run --queues 4 --vhost on", "with a network device"),
        ],
    ),
    (
        "vm run",
        &[
            ("plumb vm run --vcpus 2", "boot a guest and show its properties"),
            ("plumb vm run --queues 4 --vhost on", "with a network device"),
        ],
    ),
    (
        "rebalance",
        &[
            ("plumb rebalance vms.toml --dry-run --rounds 1", "show memory and planned moves"),
            ("plumb rebalance vms.toml --metrics /run/plumb.prom", "run until interrupted"),
        ],
    ),
    (
        "memory",
        &[
            ("plumb memory top vms.toml --once", "each machine's memory size, use and accesses"),
            ("plumb memory report memory.jsonl -o memory.html", "a recording as a page with charts"),
        ],
    ),
    (
        "memory top",
        &[
            ("plumb memory top vms.toml", "a live table"),
            ("plumb memory top vms.toml --once --json", "one sample, as JSON"),
        ],
    ),
    (
        "memory report",
        &[
            ("plumb memory report memory.jsonl", "summarise a recording on the terminal"),
            ("plumb memory report memory.jsonl -o memory.html", "as a page with charts"),
        ],
    ),
    (
        "doctor",
        &[
            ("plumb doctor", "check this machine"),
            ("plumb doctor --json", "as JSON"),
            ("plumb doctor --rights", "required capabilities"),
        ],
    ),
];

pub(crate) fn on_every_page(tree: Command) -> Command {
    tree.mut_subcommands(|command| with_examples(command, ""))
}

fn with_examples(command: Command, above: &str) -> Command {
    let name = format!("{above}{}", command.get_name());
    let below = format!("{name} ");
    let command = command.mut_subcommands(|command| with_examples(command, &below));
    let Some((_, examples)) = EXAMPLES.iter().find(|(page, _)| *page == name) else { return command };
    let width = examples.iter().map(|(example, _)| example.len()).max().unwrap_or(0);
    let lines: Vec<String> =
        examples.iter().map(|(example, description)| line(example, description, width)).collect();
    let rest = command.get_after_help().map(|rest| format!("\n\n{rest}")).unwrap_or_default();
    command.after_help(format!("Examples:\n{}{rest}", lines.join("\n")))
}

fn line(example: &str, description: &str, width: usize) -> String {
    let line = format!("  {example:width$}  # {description}");
    if line.chars().count() <= 80 { line } else { format!("  {example}\n    # {description}") }
}

#[cfg(test)]
mod tests;
