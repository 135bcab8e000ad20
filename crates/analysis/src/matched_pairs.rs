//! Finds pairs of results that differ only in vhost, according to the virtual machines' settings or to names in other
//! tools' logs.

use findings::{MatchedPair, MatchedPairs};
use samples::{ResultRecord, RunHeader, VmSettings};

use crate::{fits::Fits, observations::Observations};

pub(crate) const VHOST: &str = "vhost";

#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair<'a> {
    pub(crate) with: &'a Observations<'a>,
    pub(crate) without: &'a Observations<'a>,
    /// Whether vhost is a factor. If so, the factor's effects already include the pair.
    is_factor: bool,
}

pub(crate) fn matched_pairs(
    header: &RunHeader,
    measured: &[Observations<'_>],
    fits: &Fits,
) -> Vec<MatchedPairs> {
    let mut all: Vec<MatchedPairs> = Vec::new();
    for pair in pairs(header, measured).iter().filter(|pair| !pair.is_factor) {
        let workload = &pair.without.record.workload;
        let Some(change) = fits.compare(pair.with, pair.without) else { continue };
        let found = MatchedPair {
            without: pair.without.record.id.clone(),
            with: pair.with.record.id.clone(),
            change,
        };
        let metric = pair.without.metric;
        match all
            .iter_mut()
            .find(|matched_pairs| (&matched_pairs.workload, matched_pairs.metric) == (workload, metric))
        {
            Some(matched_pairs) => matched_pairs.pairs.push(found),
            None => {
                let (word, workload) = (VHOST.into(), workload.clone());
                all.push(MatchedPairs { word, workload, metric, pairs: vec![found] });
            }
        }
    }
    all
}

pub(crate) fn pairs<'a>(header: &RunHeader, measured: &'a [Observations<'a>]) -> Vec<Pair<'a>> {
    let results: Vec<PairSide<'a>> = match header.origin.imported() {
        Some(_) => measured.iter().map(named).collect(),
        None => measured.iter().filter_map(|result| configured(header, result)).collect(),
    };
    results.iter().filter(|result| result.on == Some(true)).filter_map(|on| pair(on, &results)).collect()
}

struct PairSide<'a> {
    result: &'a Observations<'a>,
    key: String,
    on: Option<bool>,
    is_factor: bool,
}

fn pair<'a>(on: &PairSide<'a>, results: &[PairSide<'a>]) -> Option<Pair<'a>> {
    let same = |other: &&PairSide<'_>| other.key == on.key && other.result.metric == on.result.metric;
    let off = results.iter().filter(|other| other.on == Some(false)).find(same);
    let off = off.or_else(|| results.iter().filter(|other| other.on.is_none()).find(same))?;
    Some(Pair { with: on.result, without: off.result, is_factor: on.is_factor })
}

fn configured<'a>(header: &RunHeader, result: &'a Observations<'a>) -> Option<PairSide<'a>> {
    let ResultRecord { path, workload, levels, .. } = result.record;
    let path = header.paths.iter().find(|record| record.name == *path)?;
    let settings = |host: &str| {
        let machine = header.machines.iter().find(|machine| machine.host == host)?;
        machine.settings.clone()
    };
    let mut ends: [Option<VmSettings>; 2] = path.hosts().map(settings);
    let mut vhost = ends.iter_mut().flatten().map(|settings| std::mem::take(&mut settings.vhost));
    let on = vhost.next()?;
    let is_mixed = vhost.next().is_some_and(|other| other != on);
    let key = format!("{workload} {levels:?} {:?} {ends:?}", path.layers);
    (!is_mixed).then_some(PairSide { result, key, on: Some(on), is_factor: false })
}

fn named<'a>(result: &'a Observations<'a>) -> PairSide<'a> {
    let ResultRecord { path, workload, levels, .. } = result.record;
    let (mut on, mut is_factor) = (None, false);
    let mut key = Vec::new();
    let factors = levels.iter().map(|(factor, level)| (factor.as_str(), level.as_str()));
    for (name, text) in [("path", path.as_str()), ("workload", workload.as_str())].into_iter().chain(factors)
    {
        let (rest, said) = if name.to_lowercase().contains(VHOST) {
            is_factor = true;
            (String::new(), Some(!is_off(text)))
        } else {
            without_the_word(text)
        };
        on = said.or(on);
        if !rest.is_empty() {
            key.push(format!("{name}={rest}"));
        }
    }
    PairSide { result, key: key.join("/"), on, is_factor }
}

fn is_off(level: &str) -> bool {
    matches!(
        level.trim().to_lowercase().as_str(),
        "off" | "no" | "false" | "0" | "without" | "disabled" | "none"
    )
}

fn without_the_word(text: &str) -> (String, Option<bool>) {
    let text = text.to_lowercase().replace("vhost-net", VHOST).replace("vhost_net", VHOST);
    let between = |letter: char| matches!(letter, '-' | '_' | ' ' | '+' | ',' | '/' | '=' | '>');
    let words: Vec<&str> = text.split(between).filter(|word| !word.is_empty()).collect();
    let Some(at) = words.iter().position(|word| *word == VHOST) else { return (words.join("-"), None) };
    let word_at =
        |index: Option<usize>| index.and_then(|index| words.get(index).copied()).unwrap_or_default();
    let (before, after) = (word_at(at.checked_sub(1)), word_at(Some(at + 1)));
    let off = matches!(before, "without" | "no") || is_off(after);
    let belongs = |index: usize, word: &str| {
        index == at
            || (index + 1 == at && matches!(word, "with" | "without" | "no"))
            || (index == at + 1 && matches!(word, "on" | "off"))
    };
    let rest: Vec<&str> = words
        .iter()
        .enumerate()
        .filter(|(index, word)| !belongs(*index, word))
        .map(|(_, word)| *word)
        .collect();
    (rest.join("-"), Some(!off))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::Fixture;

    #[test]
    fn names_match_without_the_word() {
        for (text, rest, on) in [
            ("KVM-KVM-vhost", "kvm-kvm", Some(true)),
            ("KVM-KVM", "kvm-kvm", None),
            ("with vhost-net + VM0->VM1", "vm0-vm1", Some(true)),
            ("without vhost-net + VM0->VM1", "vm0-vm1", Some(false)),
            ("no-vhost", "", Some(false)),
            ("vhost=off", "", Some(false)),
            ("ghost", "ghost", None),
        ] {
            assert_eq!(without_the_word(text), (rest.to_owned(), on), "{text}");
        }
    }

    #[test]
    fn lists_each_matched_pair_once_with_its_difference() {
        let mut run = Fixture::new(6).logged();
        for path in ["host-to-vm", "host-to-vm-vhost", "vm-to-vm", "vm-to-vm-vhost"] {
            run.path(path, &["bridge", "virtio"]);
        }
        for way in ["forward", "reverse"] {
            run.stream("host-to-vm", &[("direction", way)], 16e9);
            run.stream("host-to-vm-vhost", &[("direction", way)], 24e9);
        }
        run.ping("vm-to-vm", &[], 60e3).ping("vm-to-vm-vhost", &[], 45e3);
        let matched_pairs = crate::analyse(&run.record).matched_pairs;
        let said = |matched_pairs: &MatchedPairs| {
            let pairs = matched_pairs.pairs.iter();
            pairs.map(|pair| (pair.without.clone(), pair.with.clone(), pair.change.ratio)).collect::<Vec<_>>()
        };
        let of_streams = said(&matched_pairs[0]);
        assert_eq!(
            (matched_pairs.len(), of_streams.len(), matched_pairs[1].workload.as_str()),
            (2, 2, "ping")
        );
        for ((without, with, ratio), way) in of_streams.into_iter().zip(["forward", "reverse"]) {
            assert_eq!(without, format!("host-to-vm/bulk/direction={way}"));
            assert_eq!(with, format!("host-to-vm-vhost/bulk/direction={way}"));
            assert!((ratio - 1.5).abs() < 0.02, "{ratio}");
        }
        assert!((said(&matched_pairs[1])[0].2 - 0.75).abs() < 0.01, "{matched_pairs:?}");
    }

    #[test]
    fn levels_of_a_factor_are_not_matched_pairs() {
        let mut run = Fixture::new(6).logged();
        run.path("guest", &["virtio"]);
        run.stream("guest", &[("vhost", "off")], 1e9).stream("guest", &[("vhost", "on")], 2e9);
        let findings = crate::analyse(&run.record);
        assert!(
            findings.matched_pairs.is_empty() && findings.effects.len() == 1,
            "{:?}",
            findings.matched_pairs
        );
        assert!(findings.findings.iter().any(|claim| claim.id == "vhost-off"), "{:?}", findings.findings);
    }
}
