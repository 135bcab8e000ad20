//! The kernels in a folder.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use machine::{ConfiguredKernel, Kernel};
use scenario::GuestKernel;

use crate::{bounded_file, failure::Misuse, output};

const PREFIX: &str = "vmlinuz-";
/// Their digits are not part of a version number.
const ARCHITECTURES: [&str; 4] = ["amd64", "x86_64", "arm64", "aarch64"];

#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) name: String,
    pub(super) boot: ConfiguredKernel,
    config: PathBuf,
}

/// Returns the kernels from `good` to `bad`, in this order. Skips unusable kernels between them, e.g. without
/// modules.
pub(super) fn between(folder: &Path, good: &str, bad: &str) -> Result<Vec<Candidate>> {
    let names = selected(names(folder)?, good, bad)?;
    let mut kernels = Vec::new();
    for name in names {
        match candidate(folder, &name) {
            Ok(kernel) => kernels.push(kernel),
            Err(error) if name == good || name == bad => return Err(error),
            Err(error) => output::aside(format_args!("skipping {name}: {error:#}")),
        }
    }
    Ok(kernels)
}

fn names(folder: &Path) -> Result<Vec<String>> {
    let failed = || format!("cannot read the folder {}", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).with_context(failed)? {
        let entry = entry.with_context(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() {
            names.extend(entry.path().join("vmlinuz").exists().then_some(name));
        } else {
            names.extend(name.strip_prefix(PREFIX).map(str::to_owned));
        }
    }
    Ok(names)
}

/// If `good` and `bad` differ only in their numbers, all others must do so, too. For example, Debian's kernels for
/// clouds are not compared with the ordinary ones.
fn selected(mut names: Vec<String>, good: &str, bad: &str) -> Result<Vec<String>, Misuse> {
    if good == bad {
        return Err(Misuse::new("both kernels are the same").hint("name a good and a bad one"));
    }
    names.sort_by_cached_key(|name| version(name));
    names.dedup();
    for end in [good, bad] {
        if !names.iter().any(|name| name == end) {
            let hint = format!("available: {}", names.join(", "));
            return Err(Misuse::new(format!("no kernel `{end}`")).hint(hint));
        }
    }
    if flavour(good) == flavour(bad) {
        names.retain(|name| flavour(name) == flavour(good));
    }
    let place = |end: &str| names.iter().position(|name| name == end).expect("it was found above");
    let (good, bad) = (place(good), place(bad));
    names.truncate(good.max(bad) + 1);
    names.drain(..good.min(bad));
    if bad < good {
        names.reverse();
    }
    Ok(names)
}

/// Release candidates come before their release.
fn version(name: &str) -> (Vec<u64>, bool, Vec<u64>, String) {
    let (base, candidate) = name.split_once("-rc").unwrap_or((name, ""));
    let numbers = |text: &str| {
        Kernel::version(&ARCHITECTURES.iter().fold(text.to_owned(), |text, name| text.replace(name, "")))
    };
    (numbers(base), candidate.is_empty(), numbers(candidate), name.to_owned())
}

fn flavour(name: &str) -> Vec<&str> {
    name.split(|c: char| c.is_ascii_digit() || ".-+~".contains(c))
        .filter(|word| !["", "rc"].contains(word))
        .collect()
}

fn candidate(folder: &Path, name: &str) -> Result<Candidate> {
    let own = folder.join(name);
    let image = Some(own.join("vmlinuz")).filter(|image| image.exists());
    let image = image.unwrap_or_else(|| folder.join(format!("{PREFIX}{name}")));
    // The release is in the name of the file behind a link.
    let image = image.canonicalize().with_context(|| format!("cannot read {}", image.display()))?;
    let modules = Some(own.join("modules")).filter(|modules| modules.exists());
    let is_named = image.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX));
    if modules.is_none() && !is_named {
        bail!(
            "{} needs a folder `modules`, because its vmlinuz is not a link to vmlinuz-RELEASE",
            own.display()
        );
    }
    let kernel = Kernel::chosen(&GuestKernel::File(image), modules)?;
    let packaged = kernel.image.with_file_name(format!("config-{}", kernel.release()));
    let config = Some(own.join("config")).filter(|own| own.exists()).unwrap_or(packaged);
    let parameters = read(&own.join("parameters"))?;
    let words: Vec<&str> =
        parameters.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace).collect();
    if words.contains(&"--") {
        bail!("{} contains --, which ends the kernel parameters", own.join("parameters").display());
    }
    let boot = ConfiguredKernel { kernel, parameters: words.join(" ") };
    Ok(Candidate { name: name.to_owned(), boot, config })
}

/// Returns an empty text if the file does not exist.
fn read(file: &Path) -> Result<String> {
    if !file.exists() {
        return Ok(String::new());
    }
    bounded_file::read(file).with_context(|| format!("cannot read {}", file.display()))
}

/// Lists changes of the kernel parameters, and of the build options if both are known.
pub(super) fn changes(before: &Candidate, after: &Candidate) -> Result<Vec<String>> {
    let mut changes = changed(&before.boot.parameters, &after.boot.parameters, ' ');
    let (old, new) = (read(&before.config)?, read(&after.config)?);
    if !old.is_empty() && !new.is_empty() {
        changes.extend(changed(&old, &new, '\n'));
    }
    Ok(changes)
}

fn changed(before: &str, after: &str, separator: char) -> Vec<String> {
    let (before, after) = (settings(before, separator), settings(after, separator));
    let added = after.keys().filter(|key| !before.contains_key(*key));
    let value = |of: &BTreeMap<&str, Vec<&str>>, key: &str| match of.get(key) {
        Some(values) if values.iter().all(|value| value.is_empty()) => "set".to_owned(),
        Some(values) => values.join(" "),
        None => "not set".to_owned(),
    };
    let keys = before.keys().chain(added).filter(|key| before.get(*key) != after.get(*key));
    keys.map(|key| format!("{key}: {} -> {}", value(&before, key), value(&after, key))).collect()
}

/// A kernel parameter may be repeated.
fn settings(text: &str, separator: char) -> BTreeMap<&str, Vec<&str>> {
    let mut settings: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for word in text.split(separator).map(str::trim).filter(|word| !word.is_empty() && !word.starts_with('#'))
    {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        settings.entry(key).or_default().push(value);
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selects_kernels_of_one_flavour_in_order() {
        let all = [
            "6.12.1-amd64",
            "6.1.0-56-cloud-amd64",
            "6.1.0-9-cloud-amd64",
            "6.1.1-5-cloud-amd64",
            "6.1.0-50-amd64",
        ];
        let select = |good, bad| selected(all.map(str::to_owned).to_vec(), good, bad);
        let between = ["6.1.0-9-cloud-amd64", "6.1.0-56-cloud-amd64", "6.1.1-5-cloud-amd64"];
        assert_eq!(select(between[0], between[2]).expect("known"), between);
        assert_eq!(
            select("6.12.1-amd64", "6.1.0-50-amd64").expect("known"),
            ["6.12.1-amd64", "6.1.0-50-amd64"]
        );
        assert_eq!(select("6.1.0-9-cloud-amd64", "6.12.1-amd64").expect("known").len(), 5);
        let unknown = select("6.1", "6.12.1-amd64").expect_err("no such kernel").to_string();
        assert_eq!(unknown, "no kernel `6.1`");
        assert!(version("6.12-rc1") < version("6.12-rc10") && version("6.12-rc10") < version("6.12"));
        assert!(version("6.12") < version("6.12.1") && version("6.12-amd64") < version("6.12.1-amd64"));
    }

    #[test]
    fn lists_changed_settings() {
        let (old, new) =
            ("CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_C=m\n", "CONFIG_A=y\nCONFIG_B=y\nCONFIG_C=y\n");
        assert_eq!(changed(old, new, '\n'), ["CONFIG_C: m -> y", "CONFIG_B: not set -> y"]);
        assert_eq!(changed("quiet", "quiet debug", ' '), ["debug: not set -> set"]);
        assert_eq!(changed("console=a console=b", "console=b", ' '), ["console: a b -> b"]);
    }
}
