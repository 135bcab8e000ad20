//! Maps the kernel's offload feature names to the keywords of `ethtool -K`.
//!
//! A keyword covers all features that match a pattern, as in `off_flag_def` in ethtool.c,
//! <https://git.kernel.org/pub/scm/network/ethtool/ethtool.git>.

use std::borrow::Cow;

type Word = (&'static str, fn(&str) -> bool);

const WORDS: [Word; 6] = [
    ("tso", |name| name.starts_with("tx-tcp") && name.ends_with("-segmentation")),
    ("gso", |name| name == "tx-generic-segmentation"),
    ("gro", |name| name == "rx-gro"),
    ("tx", |name| name.starts_with("tx-checksum-")),
    ("rx", |name| name == "rx-checksum"),
    ("sg", |name| name.starts_with("tx-scatter-gather")),
];

/// A feature without a keyword keeps the kernel's name, which ethtool accepts too.
pub(crate) fn words<'a>(features: &[&'a str]) -> Vec<&'a str> {
    let covered = WORDS.iter().filter(|(_, covers)| features.iter().any(|name| covers(name)));
    let bare = features.iter().filter(|name| !WORDS.iter().any(|(_, covers)| covers(name)));
    covered.map(|(word, _)| *word).chain(bare.copied()).collect()
}

/// Appends the host of `device` (`host:device`) as a comment.
pub(crate) fn switch_on(device: &str, features: &[&str]) -> String {
    let settings: Vec<String> = words(features).iter().map(|word| format!("{word} on")).collect();
    typed_at(device, |name| format!("ethtool -K {name} {}", settings.join(" ")))
}

pub(crate) fn typed_at(device: &str, command: impl Fn(&str) -> String) -> String {
    match device.split_once(':') {
        Some((host, name)) => format!("{}  # in {host}", command(&quoted(name))),
        None => command(&quoted(device)),
    }
}

/// Containers choose their device names, which may contain characters that a shell interprets.
fn quoted(name: &str) -> Cow<'_, str> {
    if name.chars().all(|sign| sign.is_ascii_alphanumeric() || "._-@".contains(sign)) {
        return name.into();
    }
    format!("'{}'", name.replace('\'', r"'\''")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_features_to_covering_keywords() {
        let features = [
            "rx-gro",
            "tx-checksum-ip-generic",
            "tx-generic-segmentation",
            "tx-tcp-accecn-segmentation",
            "tx-tcp-segmentation",
            "tx-udp-segmentation",
        ];
        assert_eq!(words(&features), ["tso", "gso", "gro", "tx", "tx-udp-segmentation"]);
    }

    #[test]
    fn command_names_device_and_host() {
        assert_eq!(
            switch_on("node1:egress.vxlan", &["tx-tcp-segmentation"]),
            "ethtool -K egress.vxlan tso on  # in node1"
        );
        assert_eq!(switch_on("a:e;reboot'", &["rx-gro"]), r"ethtool -K 'e;reboot'\''' gro on  # in a");
    }
}
