//! Finds nftables rules that may block or redirect connections, including iptables-nft rules.

use sys::netns::NetNs;

use super::runtime::{self, Printed};

/// Lower-case words of rules (nft(8)) and of iptables targets (iptables-extensions(8)).
const VERDICTS: [&str; 7] = ["drop", "reject", "redirect", "tproxy", "dnat", "queue", "netmap"];

/// Returns each rule that may block or redirect a connection, preceded by its table and chain.
///
/// # Errors
/// Returns why `nft` cannot list the rules.
pub fn blocking_rules(namespace: &NetNs) -> Result<Vec<String>, String> {
    match runtime::run_in(Some(namespace), "nft", &["list", "ruleset"]) {
        Printed::NotInstalled => Err("nft is not installed".to_owned()),
        Printed::Failed(reason) => Err(runtime::last_line(&reason)),
        Printed::Output(printed) => Ok(blocking(&String::from_utf8_lossy(&printed))),
    }
}

fn blocking(ruleset: &str) -> Vec<String> {
    let (mut table, mut chain) = ("", "");
    let mut found = Vec::new();
    for line in ruleset.lines().map(str::trim) {
        let head = line.trim_end_matches(" {");
        if line.starts_with("table ") {
            table = head;
        } else if line.starts_with("chain ") {
            chain = head;
        } else if is_blocking(line) {
            found.push(format!("{table} {chain}: {line}"));
        }
    }
    found
}

fn is_blocking(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    lower.split([' ', ';', '"']).any(|word| VERDICTS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Output of nft 1.0.6 for a NetworkPolicy and a sidecar.
    #[test]
    fn finds_rules_that_block_or_redirect() {
        let ruleset = "table inet policy {
\tchain input {
\t\ttype filter hook input priority filter; policy drop;
\t\ttcp dport 80 accept
\t\tct state established accept
\t}
}
table ip nat {
\tchain PREROUTING {
\t\ttype nat hook prerouting priority dstnat; policy accept;
\t\tmeta l4proto tcp counter packets 0 bytes 0 redirect to :15006
\t\tmeta l4proto udp counter packets 0 bytes 0 xt target \"REDIRECT\"
\t}
}
";
        assert_eq!(
            blocking(ruleset),
            [
                "table inet policy chain input: type filter hook input priority filter; policy drop;",
                "table ip nat chain PREROUTING: meta l4proto tcp counter packets 0 bytes 0 redirect to :15006",
                "table ip nat chain PREROUTING: meta l4proto udp counter packets 0 bytes 0 xt target \"REDIRECT\"",
            ]
        );
    }
}
