//! Maps the kernel's offload feature names to the words that `ethtool -K` takes.
//!
//! A word covers all features that match a pattern: `off_flag_def` in ethtool.c,
//! <https://git.kernel.org/pub/scm/network/ethtool/ethtool.git>.

/// A word and the features it covers.
type Word = (&'static str, fn(&str) -> bool);

/// In the order used in commands.
const WORDS: [Word; 6] = [
    ("tso", |name| name.starts_with("tx-tcp") && name.ends_with("-segmentation")),
    ("gso", |name| name == "tx-generic-segmentation"),
    ("gro", |name| name == "rx-gro"),
    ("tx", |name| name.starts_with("tx-checksum-")),
    ("rx", |name| name == "rx-checksum"),
    ("sg", |name| name.starts_with("tx-scatter-gather")),
];

/// The words for `features`, each once; a feature without a word keeps the kernel's name, which ethtool takes too.
pub(crate) fn words<'a>(features: &[&'a str]) -> Vec<&'a str> {
    let covered = WORDS.iter().filter(|(_, covers)| features.iter().any(|name| covers(name)));
    let bare = features.iter().filter(|name| !WORDS.iter().any(|(_, covers)| covers(name)));
    covered.map(|(word, _)| *word).chain(bare.copied()).collect()
}

/// The command that switches `features` of `device` (`host:device`) on, with the host as a comment.
pub(crate) fn switch_on(device: &str, features: &[&str]) -> String {
    let settings: Vec<String> = words(features).iter().map(|word| format!("{word} on")).collect();
    typed_at(device, |name| format!("ethtool -K {name} {}", settings.join(" ")))
}

/// A command for `device` (`host:device`) with the host, in which it is to be typed, as a comment.
pub(crate) fn typed_at(device: &str, command: impl Fn(&str) -> String) -> String {
    match device.split_once(':') {
        Some((host, name)) => format!("{}  # in {host}", command(name)),
        None => command(device),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_become_the_words_that_cover_them() {
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
    fn the_command_names_the_device_and_its_host() {
        assert_eq!(
            switch_on("node1:egress.vxlan", &["tx-tcp-segmentation"]),
            "ethtool -K egress.vxlan tso on  # in node1"
        );
    }
}
