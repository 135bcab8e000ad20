//! Parses settings from the headings above a test. For example, `with vhost-net + Host->VM` is a factor level and a
//! path.

use std::collections::BTreeMap;

const MOST_WORDS: usize = 3;
const LONGEST: usize = 40;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) path: Option<(String, String)>,
    pub(crate) levels: BTreeMap<String, String>,
    pub(crate) workload: Option<String>,
    pub(crate) section: String,
}

/// Parses headings sorted from outermost to innermost. Inner headings take precedence.
pub(crate) fn settings(titles: &[String]) -> Settings {
    let mut settings = Settings::default();
    let mut words: Vec<String> = Vec::new();
    // Whether the innermost heading has only settings, apart from roles and numbers.
    let mut innermost_is_settings = true;
    for title in titles {
        let mut rest: Vec<&str> = Vec::new();
        let mut has_text = false;
        for part in parts(title) {
            if is_role(part) || is_repetition(part) {
                continue;
            }
            has_text = true;
            if let Some(path) = path(part) {
                settings.path = Some(path);
            } else if let Some((factor, level)) = level(part) {
                settings.levels.insert(factor, level);
            } else {
                rest.push(part);
            }
        }
        if has_text {
            innermost_is_settings = rest.is_empty();
        }
        if !rest.is_empty() {
            words.push(rest.join(", "));
        }
    }
    if !innermost_is_settings {
        settings.workload = words.pop();
    }
    settings.section = words.join(" / ");
    settings
}

/// Converts text to the form used in names: `VM0 (left)` becomes `vm0-left`.
pub(crate) fn slug(text: &str) -> String {
    let mut slug = String::new();
    for sign in text.chars().flat_map(char::to_lowercase).take(120) {
        if sign.is_alphanumeric() || matches!(sign, '.' | '_' | '=') {
            slug.push(sign);
        } else if !slug.ends_with('-') && !slug.is_empty() {
            slug.push('-');
        }
    }
    slug.truncate(slug.trim_end_matches('-').len());
    slug
}

fn parts(title: &str) -> impl Iterator<Item = &str> {
    title.split([',', ';']).flat_map(|part| part.split(" + ")).map(str::trim).filter(|part| !part.is_empty())
}

/// Matches titles that name the side that wrote the log, e.g. `Server`, `Client: dev-gateway (10.1.0.1)` or `client log`.
fn is_role(part: &str) -> bool {
    let lowercase = part.to_lowercase();
    let is_labelled = |role: &&str| lowercase.strip_prefix(*role).is_some_and(|after| after.starts_with(':'));
    is_role_alone(part) || ROLES.iter().any(is_labelled)
}

const ROLES: [&str; 4] = ["server", "client", "sender", "receiver"];

/// Matches `On the server:` and `client_log`, which contain only the end that wrote a log.
pub(crate) fn is_role_alone(text: &str) -> bool {
    const OTHERS: [&str; 11] =
        ["on", "at", "from", "the", "following", "is", "output", "log", "logs", "side", "end"];
    let lowercase = text.to_lowercase();
    let mut words = lowercase.split(|sign: char| !sign.is_alphanumeric()).filter(|word| !word.is_empty());
    ROLES.iter().any(|role| lowercase.contains(role))
        && words.all(|word| ROLES.contains(&word) || OTHERS.contains(&word))
}

/// Matches `Run 3`, `2nd run` and `iteration 1 of 5`: one of several equal runs.
pub(crate) fn is_run(text: &str) -> bool {
    const RUNS: [&str; 8] = ["run", "trial", "attempt", "iteration", "iter", "round", "pass", "repetition"];
    const ORDINALS: [&str; 5] = ["first", "second", "third", "fourth", "fifth"];
    let lowercase = text.to_lowercase();
    let words: Vec<&str> =
        lowercase.split(|sign: char| !sign.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is_number = |word: &&str| {
        ORDINALS.contains(word)
            || word.trim_end_matches(char::is_alphabetic).bytes().any(|byte| byte.is_ascii_digit())
    };
    let is_run = |word: &&str| RUNS.contains(word);
    words.iter().any(is_run)
        && words.iter().any(is_number)
        && words.iter().all(|word| is_run(word) || is_number(word) || matches!(*word, "of" | "no" | "number"))
}

/// Matches `Run 3`, `#2` and `test-1`, which are not settings.
fn is_repetition(part: &str) -> bool {
    let lowercase = part.to_lowercase();
    let words =
        ["run", "test", "trial", "attempt", "iteration", "round", "pass", "repetition", "no.", "#", ""];
    words.iter().any(|word| {
        lowercase.strip_prefix(word).is_some_and(|after| {
            let number = after.trim_matches([' ', '-', '_', '#', ':', '.']);
            !number.is_empty() && number.len() <= 6 && number.bytes().all(|byte| byte.is_ascii_digit())
        })
    })
}

/// Parses `A->B`, `A → B`, `A to B` or `A-to-B`. Returns the first and last of `A -> B -> C`.
fn path(part: &str) -> Option<(String, String)> {
    let (from, to) = arrow(part).or_else(|| {
        let rest = part.strip_prefix("from ").unwrap_or(part);
        let (from, to) = rest.split_once(" to ").or_else(|| rest.split_once("-to-"))?;
        let single = |text: &str| text.split_whitespace().count() == 1;
        (single(from) && single(to) && !to.contains("-to-")).then_some((from, to))
    })?;
    let (from, to) = (from.trim(), to.trim());
    (is_name(from) && is_name(to)).then(|| (from.to_owned(), to.to_owned()))
}

fn arrow(part: &str) -> Option<(&str, &str)> {
    ["->", "→", "=>", "⇒", "➜"].iter().find_map(|arrow| {
        let (from, rest) = part.split_once(arrow)?;
        Some((from, rest.rsplit(arrow).next().unwrap_or(rest)))
    })
}

/// Parses `with X`, `without X`, `no X`, `X on`, `X off` or `X=value`.
fn level(part: &str) -> Option<(String, String)> {
    let factor = |name: &str| is_name(name).then(|| name.trim().to_lowercase());
    let switch = |name: &str, on: bool| Some((factor(name)?, if on { "on" } else { "off" }.to_owned()));
    if let Some((name, value)) = part.split_once('=') {
        let (name, value) = (name.trim(), value.trim());
        let one = |text: &str| text.split_whitespace().count() == 1;
        return if one(name) && one(value) { Some((factor(name)?, value.to_owned())) } else { None };
    }
    let lowercase = part.to_lowercase();
    for (word, on) in [("with ", true), ("without ", false), ("w/ ", true), ("w/o ", false)] {
        if lowercase.starts_with(word) {
            return switch(&part[word.len()..], on);
        }
    }
    let (name, word) = lowercase.rsplit_once(' ')?;
    if name.contains(' ') {
        return None;
    }
    match word {
        "on" | "enabled" => switch(name.trim_end_matches(':'), true),
        "off" | "disabled" => switch(name.trim_end_matches(':'), false),
        word if name == "no" => switch(word, false),
        _ => None,
    }
}

fn is_name(text: &str) -> bool {
    let text = text.trim();
    let words = text.split_whitespace().count();
    (1..=MOST_WORDS).contains(&words) && text.chars().count() <= LONGEST
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings_of(titles: &[&str]) -> Settings {
        settings(&titles.iter().map(|title| (*title).to_owned()).collect::<Vec<_>>())
    }

    fn check(titles: &[&str], path: Option<(&str, &str)>, levels: &[(&str, &str)], workload: Option<&str>) {
        let settings = settings_of(titles);
        let levels: BTreeMap<String, String> =
            levels.iter().map(|(factor, level)| ((*factor).to_owned(), (*level).to_owned())).collect();
        assert_eq!(settings.path, path.map(|(from, to)| (from.to_owned(), to.to_owned())), "{titles:?}");
        assert_eq!(settings.levels, levels, "{titles:?}");
        assert_eq!(settings.workload.as_deref(), workload, "{titles:?}");
    }

    #[test]
    fn parses_path_levels_and_workload() {
        let vhost = |level| [("vhost-net", level)];
        check(&["Raw data", "with vhost-net + Host->VM"], Some(("Host", "VM")), &vhost("on"), None);
        check(&["without vhost-net + VM0->VM1"], Some(("VM0", "VM1")), &vhost("off"), None);
        check(&["vhost-net off; VM to Host, bulk"], Some(("VM", "Host")), &vhost("off"), Some("bulk"));
        check(&["no vhost-net", "vm-to-host"], Some(("vm", "host")), &vhost("off"), None);
        check(&["mtu=9000, queues = 8"], None, &[("mtu", "9000"), ("queues", "8")], None);
        check(&["pod -> egress node -> target"], Some(("pod", "target")), &[], None);
        check(&["TSO enabled", "Client log"], None, &[("tso", "on")], None);
        check(&["Bulk transfer", "Run 3", "Server: b (10.1.0.101)"], None, &[], Some("Bulk transfer"));
        check(&[], None, &[], None);
    }

    #[test]
    fn distinguishes_roles_and_runs_from_other_words() {
        for text in ["Server", "On the client:", "server_log", "Following is the server output:"] {
            assert!(is_role_alone(text), "{text}");
        }
        for text in ["Server with MTU 9000", "The log", "client: a"] {
            assert!(!is_role_alone(text), "{text}");
        }
        for text in ["Run 3", "run #2 of 5", "2nd run", "First iteration:"] {
            assert!(is_run(text), "{text}");
        }
        for text in ["Test 1", "run", "Run 2 with MTU 9000", "3"] {
            assert!(!is_run(text), "{text}");
        }
    }

    #[test]
    fn ignores_prose() {
        for title in [
            "iperf3 Benchmark: Client to Server over VXLAN",
            "How we came from ten minutes to two seconds with a cache",
            "with what we know about the networks of today",
            "Results based on three hours = one afternoon",
        ] {
            check(&[title], None, &[], Some(title));
        }
    }

    #[test]
    fn outer_headings_form_the_section() {
        let section = |titles: &[&str]| settings_of(titles).section;
        assert_eq!(section(&["Bench", "Tuned", "with vhost + Host->VM"]), "Bench / Tuned");
        assert_eq!(section(&["Bench", "Bulk", "Server"]), "Bench");
    }

    #[test]
    fn slugs_are_lower_case_words() {
        for (text, expected) in [
            ("Host -> VM", "host-vm"),
            ("10.1.0.1", "10.1.0.1"),
            ("  VM0 (left)!", "vm0-left"),
            ("채널 수", "채널-수"),
        ] {
            assert_eq!(slug(text), expected);
        }
    }
}
