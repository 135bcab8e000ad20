//! Parses a list of probes from a flag or a stored run.

use samples::ProbeKind;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chosen(pub(crate) Vec<ProbeKind>);

/// Parses `cpu,syscalls`, `all` or `none`.
pub(crate) fn chosen(text: &str) -> Result<Chosen, String> {
    match text {
        "all" => Ok(Chosen(ProbeKind::ALL.to_vec())),
        "none" => Ok(Chosen(Vec::new())),
        words => words.split(',').map(|word| kind(word.trim())).collect::<Result<_, _>>().map(Chosen),
    }
}

fn kind(word: &str) -> Result<ProbeKind, String> {
    let known = ProbeKind::ALL.into_iter().find(|kind| kind.word() == word);
    known.ok_or_else(|| {
        let words = ProbeKind::ALL.map(ProbeKind::word).join(", ");
        format!("no probe `{word}`: use a list of {words}, or all, or none")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_probes() {
        let all = ProbeKind::ALL.to_vec();
        for (text, read) in [
            ("all", all.clone()),
            ("none", Vec::new()),
            ("cpu,syscalls,packet-way", all),
            ("packet-way, cpu", vec![ProbeKind::PacketWay, ProbeKind::Cpu]),
        ] {
            assert_eq!(chosen(text), Ok(Chosen(read)), "{text}");
        }
        let error = chosen("cpu,strace").expect_err("no such probe");
        assert!(error.contains("`strace`") && error.contains("packet-way"), "{error}");
        assert!(chosen("").is_err());
    }
}
