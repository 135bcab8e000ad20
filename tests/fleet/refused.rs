//! Tests the errors for hosts on which no agent can start.

use std::fs;

use plumb_tests::{Network, Output, first_two, pair};

#[track_caller]
fn says(output: &Output, words: &[&str]) {
    assert_eq!(output.status, Some(1), "{output:?}");
    assert!(words.iter().all(|word| output.err.contains(word)), "{words:?} in {}", output.err);
    assert!(!output.err.contains("panicked"), "{}", output.err);
}

fn run(network: &Network, scenario: &str) -> Output {
    let file = network.sandbox.file("pair.toml", scenario);
    network.plumb(&["run", &file])
}

pub(crate) fn ssh_errors() {
    let network = crate::network(1);
    let to =
        |destination: &str| pair([&format!("at = \"ssh:{destination}\""), "at = \"ssh:h0\""], 1, "300ms");
    says(&run(&network, &to("h9.invalid")), &["host a (h9.invalid)", "unknown host name"]);
    says(&run(&network, &to("root@198.18.0.77")), &["host a (root@198.18.0.77)", "cannot reach it", "route"]);
    let keys = network.sandbox.home().join("authorized_keys");
    let kept = fs::read(&keys).expect("the file exists");
    fs::write(&keys, "").expect("own file");
    says(
        &run(&network, &first_two(1, "300ms")),
        &["host a (h0)", "accepts none of your keys", "authorized_keys"],
    );
    fs::write(&keys, kept).expect("own file");
    let known = network.sandbox.home().join("known_hosts");
    let other = fs::read_to_string(network.sandbox.home().join("key.pub")).expect("the file exists");
    fs::write(&known, format!("any {other}")).expect("own file");
    says(&run(&network, &first_two(1, "300ms")), &["its host key has changed", "ssh-keygen -R"]);
    fs::write(&known, "").expect("own file");
    says(&run(&network, &first_two(1, "300ms")), &["host key is unknown", "known_hosts"]);
}

pub(crate) fn one_machine_by_two_names() {
    let network = crate::network(1);
    let config = network.sandbox.home().join("ssh_config");
    let known = fs::read_to_string(&config).expect("it was written");
    fs::write(&config, format!("Host h-again\n  HostName 198.18.0.1\n{known}")).expect("own file");
    let twice = pair(["at = \"ssh:h0\"", "at = \"ssh:h-again\""], 1, "300ms");
    says(&run(&network, &twice), &["host b", "same machine as `a`", "list each machine once"]);
    network.agents_are_gone();
}

pub(crate) fn host_that_cannot_have_program() {
    let network = crate::network(2);
    let mounts = network.sandbox.home().join("h0/mounts");
    let uname = mounts.join("uname");
    fs::write(&uname, "#!/bin/sh\n[ \"$1\" = -m ] && echo aarch64 || echo Linux\n").expect("own file");
    let over = format!("chmod 755 {0}; mount --bind {0} $(command -v uname)", uname.display());
    network.on(0, &over);
    says(
        &run(&network, &first_two(1, "300ms")),
        &["host a (h0)", "it runs Linux aarch64", "built for Linux"],
    );
    network.on(0, "umount $(command -v uname)");
    network.on(0, "mkdir -p ~root/.cache; mount -t tmpfs -o size=1m none ~root/.cache");
    says(&run(&network, &first_two(1, "300ms")), &["host a (h0)", "No space left on device", "~/.cache"]);
    network.on(0, "test -z \"$(ls ~root/.cache/plumb)\"");
    network.on(0, "umount ~root/.cache; mount -t tmpfs -o ro none ~root/.cache");
    says(&run(&network, &first_two(1, "300ms")), &["host a (h0)", "Read-only file system"]);
    network.on(0, "umount ~root/.cache");
    let wrong = "at = \"ssh:h0\"\naddress = \"198.18.0.9\"";
    let output = run(&network, &pair([wrong, "at = \"ssh:h1\""], 1, "300ms"));
    says(&output, &["does not have the address 198.18.0.9", "198.18.0.1 (eth0)"]);
    // plumb must not use a file with the right name but different contents.
    network.on(0, "for file in ~root/.cache/plumb/plumb-*; do rm \"$file\"; echo changed > \"$file\"; done");
    let file = network.sandbox.file("pair.toml", &first_two(1, "300ms"));
    let _ = network.succeed(&["run", &file]);
}
