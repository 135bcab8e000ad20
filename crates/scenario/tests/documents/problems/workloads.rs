//! Tests workload settings that do not apply, are out of range or conflict with each other.

use super::{check, check_text};

fn with(kind: &str, settings: &str) -> String {
    format!(
        "schema = 1\nname = \"t\"\ntitle = \"t\"\n[hosts.a]\n[hosts.b]\n[wires.w]\nbetween = [\"a:eth0\", \"b:eth0\"]\n\
         addresses = [\"198.18.0.1/24\", \"198.18.0.2/24\"]\n[paths.p]\nfrom = \"a\"\nto = \"b\"\nlayers = [\"wire\"]\n\
         baseline = true\n[workloads.x]\nkind = \"{kind}\"\n{settings}\n"
    )
}

#[test]
fn reports_settings_without_effect() {
    for (kind, setting, name, reason) in [
        ("stream", "waiting = \"spin\"", "waiting", "a setting of a ping-pong; this is a stream"),
        ("stream", "schedule = \"open\"", "schedule", "a setting of a ping-pong"),
        ("stream", "under = { rate = \"1Gbit/s\" }", "under", "a setting of a ping-pong"),
        ("stream", "clients = 2", "clients", "a setting of connections; this is a stream"),
        ("stream", "transport = \"udp\"\nnodelay = true # x", "nodelay", "UDP does not delay packets"),
        ("stream", "transport = \"udp\"\nmss = 1000 # x", "mss", "`message` sets the datagram size"),
        ("ping-pong", "mode = \"limit\"", "mode", "a setting of a stream; this is a ping-pong"),
        ("ping-pong", "rate = \"1Gbit/s\"", "rate", "set its message rate"),
        ("ping-pong", "period = \"1ms\"", "period", "for an open loop, set `schedule = \"open\"`"),
        ("ping-pong", "response = 64", "response", "a setting of connections"),
        ("connect", "message = 64", "message", "use `request` and `response`"),
        ("connect", "transport = \"tcp\"", "transport", "connections are always TCP"),
        ("connect", "source-port = 5000", "source-port", "each connection is new"),
        (
            "connect",
            "interval = \"50ms\"\nstreams = 2 # x",
            "streams",
            "a setting of a stream; these are connections",
        ),
    ] {
        let at = setting.lines().last().expect("a line");
        let text = with(kind, setting);
        check_text(&text, at, &format!("`{name}` has no effect here"), "remove it");
        check_text(&text, at, reason, "remove it");
    }
}

#[test]
fn reports_settings_out_of_range() {
    for (kind, setting, message, help) in [
        ("stream", "rate = \"1bit/s\"", "a rate of 1.00 bit/s is out of range", "1.00 kbit/s to 1000 Gbit/s"),
        ("stream", "mss = 40", "a segment of 40 is out of range", "88 to 32767"),
        ("stream", "dscp = 64", "a code point of 64 is out of range", "0 to 63"),
        ("stream", "window = \"8GiB\"", "a buffer of 8.00 GiB is out of range", "2KiB to 1GiB"),
        ("stream", "source-port = 0", "a port of 0 is out of range", "1 to 65535"),
        ("stream", "busy-poll = \"1500ns\"", "a busy poll of 1.50 µs is not valid", "whole microseconds"),
        (
            "stream",
            "transport = \"udp\"\nmessage = \"64KiB\"",
            "a message of 64.0 KiB is out of range",
            "16 to 65507",
        ),
        (
            "ping-pong",
            "schedule = \"open\"\nperiod = \"10ns\"",
            "a time of 10 ns is out of range",
            "1.00 µs to 1.00 s",
        ),
        ("ping-pong", "message = \"60001B\"", "out of range", "16 to 60000 bytes"),
        ("ping-pong", "message = \"65507B\"", "out of range", "16 to 60000 bytes"),
        ("ping-pong", "transport = \"tcp\"\nmessage = \"65507B\"", "out of range", "16 to 60000 bytes"),
        ("ping-pong", "interval = \"1m\"", "a time of 60.0 s is out of range", "10.0 ms to 2.00 s"),
        ("ping-pong", "under = { streams = 0 }", "0 streams are out of range", "1 to 1024"),
        ("connect", "clients = 2000", "2000 clients are out of range", "1 to 1024"),
        ("connect", "request = 0", "a message of 0 B is out of range", "1 to"),
    ] {
        check_text(&with(kind, setting), setting.lines().last().expect("a line"), message, help);
    }
}

#[test]
fn reports_invalid_placement() {
    check_text(
        &with("stream", "placement = \"cross\""),
        "placement",
        "`cross` is not a valid value",
        "`cross-cpu`",
    );
    check_text(
        &with("stream", "placement = { client = [0], server = [] }"),
        "placement",
        "a list of CPUs is empty",
        "at least one",
    );
    check_text(
        &with("stream", "placement = { clients = [0] }"),
        "placement",
        "unknown key `clients`",
        "`client`",
    );
    check_text(&with("stream", "placement = 3"), "placement", "expected a placement", "");
}

#[test]
fn reports_spinning_ends_on_one_cpu() {
    let spin = |placement: &str| with("ping-pong", &format!("waiting = \"spin\"\nplacement = {placement}"));
    for placement in ["\"same-cpu\"", "{ client = [1], server = [1, 2] }"] {
        check_text(&spin(placement), "placement", "cannot share a CPU", "cross-cpu");
    }
    let factor = "[factors.waiting]\nvary = \"waiting\"\nvalues = [\"block\", \"spin\"]\n\n[schedule]";
    check("quick", ("[schedule]", factor), "values = [\"block\"", "would spin on one CPU", "`workloads`");
}

#[test]
fn reports_open_loop_factor_without_period() {
    let factor = "[factors.schedule]\nvary = \"schedule\"\nvalues = [\"closed\", \"open\"]\n\n[schedule]";
    check(
        "quick",
        ("[schedule]", factor),
        "values = [\"closed\"",
        "`latency` has no `period`",
        "[workloads.latency]",
    );
}

#[test]
fn reports_invalid_values_of_workload_factors() {
    let factor =
        |vary: &str, values: &str| format!("[factors.x]\nvary = \"{vary}\"\nvalues = {values}\n\n[schedule]");
    for (vary, values, message, help) in [
        ("mode", "[\"app\", \"limits\"]", "`limits` is not a valid value of `mode`", "did you mean `limit`?"),
        ("rate", "[\"unlimited\", \"fast\"]", "`fast`", "write `unlimited`"),
        ("rate", "[\"unlimited\", \"1bit/s\"]", "a rate of 1.00 bit/s is out of range", ""),
        ("waiting", "[\"block\", \"sleep\"]", "`sleep` is not a valid value of `waiting`", "`spin`"),
    ] {
        check("quick", ("[schedule]", &factor(vary, values)), values, message, help);
    }
}

fn at_hosts(settings: &str) -> String {
    format!(
        "schema = 1\nname = \"t\"\ntitle = \"t\"\n[hosts.a]\n[hosts.b]\n[workloads.x]\nkind = \"first-touch\"\n{settings}\n"
    )
}

#[test]
fn reports_invalid_hosts_of_single_ended_workload() {
    let hosts = "hosts = [\"a\"]\n";
    for (settings, at, message, help) in [
        ("", "kind =", "`x` has no hosts", "add e.g. `hosts ="),
        ("hosts = [\"a\", \"c\"]", "hosts", "unknown host `c`", "`a`, `b`"),
        ("hosts = [\"a\", \"a\"]", "hosts", "duplicate host `a`", ""),
        (&format!("{hosts}placement = \"same-cpu\""), "placement", "it runs on one host", "remove it"),
        (&format!("{hosts}congestion = \"bbr\""), "congestion", "no sockets", "remove it"),
        (&format!("{hosts}streams = 2"), "streams", "a setting of a stream; this is a first touch", ""),
        (
            &format!("{hosts}memory = \"1MiB\""),
            "memory",
            "1.00 MiB of memory is out of range",
            "use 2.00 MiB to",
        ),
        (&format!("{hosts}threads = 4\nmemory = \"7MiB\""), "memory", "out of range", "use 8.00 MiB to"),
        (&format!("{hosts}threads = 0"), "threads", "0 threads are out of range", "1 to 1024"),
    ] {
        check_text(&at_hosts(settings), at, message, help);
    }
    let path = "[paths.a]\nfrom = \"a\"\nto = \"b\"\nlayers = [\"wire\"]\nbaseline = true\n";
    check_text(
        &at_hosts(&format!("{hosts}{path}")),
        "hosts",
        "`a` is the name of both a host and a path",
        "rename the path",
    );
    check_text(
        &at_hosts(&format!("{hosts}paths = [\"p\"]")),
        "paths",
        "this workload runs on one host",
        "list its hosts",
    );
    check_text(&with("stream", "hosts = [\"a\"]"), "hosts", "a setting of a first touch", "remove it");
}

#[test]
fn reports_missing_path() {
    let text = at_hosts("").replace("first-touch", "stream");
    check_text(&text, "kind =", "the scenario has no paths", "add `[paths.NAME]`");
}
