//! Tests unknown keys and values, and values that cannot be parsed.

use super::{changed, check, check_text, problems};

#[test]
fn suggests_nearest_key() {
    let at = "duraton = \"800ms\"";
    check("quick", ("duration = \"300ms\"", at), at, "unknown key `duraton`", "did you mean `duration`?");
}

#[test]
fn suggests_nearest_table() {
    check("quick", ("[pods.app]", "[pod.app]"), "[pod.app]", "unknown key `pod`", "did you mean `pods`?");
}

#[test]
fn reports_all_unknown_keys_of_a_table() {
    let text = changed("quick", "kind = \"stream\"", "kind = \"stream\"\nstrems = 2\nmesage = 64");
    let messages: Vec<String> = problems(&text).into_iter().map(|problem| problem.message).collect();
    assert_eq!(messages, ["unknown key `strems`", "unknown key `mesage`"]);
}

#[test]
fn reports_problems_of_several_tables_in_order() {
    let text = changed("quick", "mtu = 1450", "mtuu = 1450").replacen("vni = 100", "vni = \"x\"", 1);
    let lines: Vec<usize> = problems(&text).into_iter().map(|problem| problem.line).collect();
    assert_eq!(lines.len(), 2);
    assert!(lines[0] < lines[1]);
}

#[test]
fn reports_problems_besides_an_unreadable_value() {
    let text = changed("quick", "duration = \"300ms\"", "duration = \"300mb\"").replacen(
        "trials = 20",
        "trials = 0",
        1,
    );
    let text =
        text.replacen("vni = 100", "vni = 0", 1).replacen("duration = \"200ms\"", "duration = \"4ns\"", 1);
    let messages: Vec<String> = problems(&text).into_iter().map(|problem| problem.message).collect();
    assert_eq!(messages.len(), 4, "{messages:#?}");
}

#[test]
fn does_not_report_unreadable_parts_as_missing() {
    for (from, to) in [
        ("[hosts.egress]", "[hosts.egress]\nx = 1"),
        ("vni = 100", "vni = \"a\""),
        ("baseline = true", "baseline = 1"),
        ("[pods.app]", "[pod.app]"),
        ("bridge = \"cni0\"", "bridge = 5"),
        ("from = \"node1:eth0\"", "form = \"node1:eth0\""),
        ("title = ", "tittle = "),
    ] {
        assert_eq!(problems(&changed("quick", from, to)).len(), 1, "{to}");
    }
}

#[test]
fn reports_position_of_invalid_toml() {
    check("quick", ("vni = 100", "vni = "), "vni =", "invalid TOML", "");
    check("quick", ("[pods.app]", "[pods.app"), "[pods.app", "invalid TOML", "");
}

#[test]
fn suggests_nearest_value() {
    let at = "kind = \"streem\"";
    check("quick", ("kind = \"stream\"", at), at, "`streem` is not a valid value", "did you mean `stream`?");
    let at = "layers = [\"veth\", \"brigde\"]";
    check("quick", ("layers = [\"veth\", \"bridge\"]", at), at, "`brigde`", "did you mean `bridge`?");
}

#[test]
fn reports_wrong_type_in_plain_words() {
    for (from, to, message) in [
        ("vni = 100", "vni = \"100\"", "expected an integer, not string \"100\""),
        ("vni = 100", "vni = -1", "expected an integer, not integer `-1`"),
        ("bridge = \"cni0\"", "bridge = [\"cni0\"]", "expected a string, not a list"),
        ("baseline = true", "baseline = \"yes\"", "expected true or false, not string \"yes\""),
        ("kind = \"stream\"", "kind = {}", "expected a string"),
        (
            "address = \"198.18.64.10/24\"",
            "address = 5",
            "expected an IP address with its prefix length, e.g.",
        ),
    ] {
        check("quick", (from, to), to, message, "");
    }
}

#[test]
fn reports_missing_setting() {
    check("quick", ("vni = 100\n", ""), "[vxlans.vx0]", "`vni` is missing", "add `vni");
    check("quick", ("schema = 1\n", ""), "#", "`schema` is missing", "schema = 1");
}

#[test]
fn rejects_newer_schema() {
    check("quick", ("schema = 1", "schema = 2"), "schema = 2", "reads schema 1", "schema = 1");
}

#[test]
fn reports_unknown_and_missing_units() {
    let at = "duration = \"300mb\"";
    check("quick", ("duration = \"300ms\"", at), at, "`mb` is not a valid unit", "");
    let at = "duration = 800";
    check("quick", ("duration = \"300ms\"", at), at, "expected a time with its unit", "");
}

#[test]
fn suggests_nearest_name() {
    for (from, to, message, help) in [
        ("host = \"node1\"", "host = \"nod1\"", "unknown host `nod1`", "did you mean `node1`?"),
        (
            "[\"node1:eth0\", \"egress",
            "[\"node1:eth0\", \"egres",
            "unknown host `egres`",
            "did you mean `egress`?",
        ),
        ("bridge = \"cni0\"", "bridge = \"cni\"", "unknown bridge `cni`", "did you mean `cni0`?"),
        ("over = \"eth0\"", "over = \"eth9\"", "`node1` has no device `eth9`", "did you mean `eth0`?"),
        ("tunnel = \"vx0\"", "tunnel = \"vx\"", "unknown vxlan `vx`", "did you mean `vx0`?"),
        ("from = \"node1:vx0\"", "from = \"node1:vx1\"", "no device `vx1`", "did you mean `node1:vx0`?"),
        ("from = \"node1:eth0\"", "from = \"node1\"", "more than one address", "`node1:eth0`"),
        ("from = \"app\"", "from = \"ap\"", "unknown host `ap`", "did you mean `app`?"),
    ] {
        check("quick", (from, to), to, message, help);
    }
}

#[test]
fn reports_device_name_longer_than_15_bytes() {
    let text = changed("quick", "[vxlans.vx0]", "[vxlans.a-long-name-of-it]")
        .replace("vxlans.vx0", "vxlans.a-long-name-of-it");
    check_text(&text, "[vxlans.a-long", "is 17 bytes long; the kernel's limit is 15", "shorten");
}

#[test]
fn reports_invalid_and_duplicate_names() {
    check(
        "quick",
        ("name = \"quick\"", "name = \"Quick!\""),
        "Quick!",
        "is not a valid scenario name",
        "lower-case",
    );
    check(
        "quick",
        ("[hosts.target]", "[hosts.\"tar get\"]"),
        "tar get",
        "is not a valid host name",
        "letters",
    );
    check("quick", ("[pods.web]", "[pods.node1]"), "[pods.node1]", "duplicate host `node1`", "another name");
    let (from, to) = ("\"egress:eth1\", \"target", "\"egress:eth0\", \"target");
    check("quick", (from, to), to, "duplicate device `egress:eth0`", "rename one of them");
}
