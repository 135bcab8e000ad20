//! Scenarios between hosts reached by SSH or through a member.

use std::ops::Range;

#[must_use]
pub fn pair([from, to]: [&str; 2], trials: u32, duration: &str) -> String {
    let hosts = format!(
        "[hosts.a]\n{from}\n[hosts.b]\n{to}\n\n[paths.there]\nfrom = \"a\"\nto = \"b\"\nbaseline = true\n"
    );
    scenario("two-machines", &hosts, trials, duration)
}

#[must_use]
pub fn first_two(trials: u32, duration: &str) -> String {
    pair(["at = \"ssh:h0\"", "at = \"ssh:h1\""], trials, duration)
}

pub fn by_ssh(hosts: Range<usize>) -> impl Iterator<Item = String> {
    hosts.map(|number| format!("at = \"ssh:h{number}\""))
}

pub fn by_member(hosts: Range<usize>) -> impl Iterator<Item = String> {
    hosts.map(|number| format!("at = \"member:m{number}\"\ninterface = \"eth0\""))
}

#[must_use]
pub fn pairs(pairs: &str, hosts: impl Iterator<Item = String>, trials: u32, duration: &str) -> String {
    let hosts: String =
        ('a'..='z').zip(hosts).map(|(name, host)| format!("[hosts.{name}]\n{host}\n")).collect();
    scenario("all-pairs", &format!("{pairs}\n\n{hosts}"), trials, duration)
}

fn scenario(name: &str, hosts: &str, trials: u32, duration: &str) -> String {
    format!(
        r#"schema = 1
name = "{name}"
title = "Machines that exist already"
{hosts}
[workloads.throughput]
kind = "stream"
duration = "{duration}"
warmup = "200ms"

[schedule]
trials = {trials}
pause = "1ms"
"#
    )
}
