//! Words, keys and values that cannot be read or are unknown.

use super::{changed, check, check_text, problems};

#[test]
fn an_unknown_key_gets_the_nearest_key() {
    let at = "duraton = \"800ms\"";
    check("quick", ("duration = \"300ms\"", at), at, "unknown key `duraton`", "did you mean `duration`?");
}

#[test]
fn an_unknown_table_gets_the_nearest_table() {
    check("quick", ("[pods.app]", "[pod.app]"), "[pod.app]", "unknown key `pod`", "did you mean `pods`?");
}

#[test]
fn every_unknown_key_of_a_table_is_told() {
    let text = changed("quick", "kind = \"stream\"", "kind = \"stream\"\nstrems = 2\nmesage = 64");
    let messages: Vec<String> = problems(&text).into_iter().map(|problem| problem.message).collect();
    assert_eq!(messages, ["unknown key `strems`", "unknown key `mesage`"]);
}

#[test]
fn mistakes_in_different_tables_are_told_together_and_in_order() {
    let text = changed("quick", "mtu = 1450", "mtuu = 1450").replacen("vni = 100", "vni = \"x\"", 1);
    let lines: Vec<usize> = problems(&text).into_iter().map(|problem| problem.line).collect();
    assert_eq!(lines.len(), 2);
    assert!(lines[0] < lines[1]);
}

#[test]
fn a_value_that_cannot_be_read_does_not_hide_what_is_wrong_elsewhere() {
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
fn what_cannot_be_read_is_not_told_to_be_missing() {
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
fn broken_toml_is_told_with_its_place() {
    check("quick", ("vni = 100", "vni = "), "vni =", "not valid TOML", "");
    check("quick", ("[pods.app]", "[pods.app"), "[pods.app", "not valid TOML", "");
}

#[test]
fn a_word_that_is_not_one_of_the_words_gets_the_nearest() {
    let at = "kind = \"streem\"";
    check(
        "quick",
        ("kind = \"stream\"", at),
        at,
        "`streem` is not one of the words",
        "did you mean `stream`?",
    );
    let at = "layers = [\"veth\", \"brigde\"]";
    check("quick", ("layers = [\"veth\", \"bridge\"]", at), at, "`brigde`", "did you mean `bridge`?");
}

#[test]
fn a_value_of_another_type_is_told_in_plain_words() {
    for (from, to, message) in [
        ("vni = 100", "vni = \"100\"", "expected a whole number, not string \"100\""),
        ("vni = 100", "vni = -1", "expected a whole number, not integer `-1`"),
        ("bridge = \"cni0\"", "bridge = [\"cni0\"]", "expected a text in quotes, not a list"),
        ("baseline = true", "baseline = \"yes\"", "expected true or false, not string \"yes\""),
        ("kind = \"stream\"", "kind = {}", "expected a word in quotes"),
        (
            "address = \"198.18.64.10/24\"",
            "address = 5",
            "expected an IPv4 address with its prefix length, as in",
        ),
    ] {
        check("quick", (from, to), to, message, "");
    }
}

#[test]
fn a_missing_setting_is_named() {
    check("quick", ("vni = 100\n", ""), "[vxlans.vx0]", "`vni` is missing", "add `vni");
    check("quick", ("schema = 1\n", ""), "#", "`schema` is missing", "schema = 1");
}

#[test]
fn a_newer_version_of_the_language_is_refused() {
    check("quick", ("schema = 1", "schema = 2"), "schema = 2", "reads version 1", "schema = 1");
}

#[test]
fn a_wrong_unit_gets_the_units_that_are_understood() {
    let at = "duration = \"300mb\"";
    check("quick", ("duration = \"300ms\"", at), at, "`mb` is not a unit here", "");
    let at = "duration = 800";
    check("quick", ("duration = \"300ms\"", at), at, "expected a time with its unit", "");
}

#[test]
fn unknown_names_get_the_nearest_name() {
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
fn a_device_name_has_at_most_fifteen_bytes() {
    let text = changed("quick", "[vxlans.vx0]", "[vxlans.a-long-name-of-it]")
        .replace("vxlans.vx0", "vxlans.a-long-name-of-it");
    check_text(&text, "[vxlans.a-long", "has 17 bytes; the kernel takes 15", "shorten");
}

#[test]
fn names_are_plain_and_given_once() {
    check(
        "quick",
        ("name = \"quick\"", "name = \"Quick!\""),
        "Quick!",
        "cannot be the name of a scenario",
        "lower-case",
    );
    check(
        "quick",
        ("[hosts.target]", "[hosts.\"tar get\"]"),
        "tar get",
        "cannot be the name of a host",
        "letters",
    );
    check(
        "quick",
        ("[pods.web]", "[pods.node1]"),
        "[pods.node1]",
        "the host `node1` is given twice",
        "another name",
    );
    let (from, to) = ("\"egress:eth1\", \"target", "\"egress:eth0\", \"target");
    check("quick", (from, to), to, "the device `egress:eth0` is made twice", "another name");
}
