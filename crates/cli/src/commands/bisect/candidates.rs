//! The kernels in a folder.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use machine::{ConfiguredKernel, Kernel};
use scenario::GuestKernel;

use crate::{bounded_file, failure::Misuse};

const PREFIX: &str = "vmlinuz-";

#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) name: String,
    pub(super) boot: ConfiguredKernel,
    config: PathBuf,
}

/// Returns the kernels from `good` to `bad`, in this order.
pub(super) fn between(folder: &Path, good: &str, bad: &str) -> Result<Vec<Candidate>> {
    let mut names = names(folder)?;
    let place = |name: &str| {
        let unknown = || Misuse::new(format!("{} has no kernel `{name}`", folder.display()));
        let place = names.iter().position(|known| known == name);
        place.ok_or_else(|| unknown().hint(format!("available: {}", names.join(", "))))
    };
    let (good, bad) = (place(good)?, place(bad)?);
    if good == bad {
        return Err(Misuse::new("both kernels are the same").hint("name a good and a bad one").into());
    }
    names.truncate(good.max(bad) + 1);
    names.drain(..good.min(bad));
    if bad < good {
        names.reverse();
    }
    names.into_iter().map(|name| candidate(folder, name)).collect()
}

fn names(folder: &Path) -> Result<Vec<String>> {
    let failed = || format!("cannot read the folder {}", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).with_context(failed)? {
        let entry = entry.with_context(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if let Some(release) = name.strip_prefix(PREFIX) {
            names.push(release.to_owned());
        } else if entry.path().join("vmlinuz").exists() {
            names.push(name);
        }
    }
    names.sort_by_cached_key(|name| (Kernel::version(name), name.clone()));
    Ok(names)
}

fn candidate(folder: &Path, name: String) -> Result<Candidate> {
    let own = folder.join(&name);
    let image = if own.is_dir() { own.join("vmlinuz") } else { folder.join(format!("{PREFIX}{name}")) };
    // The release is in the name of the file behind a link.
    let image = image.canonicalize().with_context(|| format!("cannot read {}", image.display()))?;
    let modules = Some(own.join("modules")).filter(|modules| modules.exists());
    let kernel = Kernel::chosen(&GuestKernel::File(image), modules)?;
    let packaged = kernel.image.with_file_name(format!("config-{}", kernel.release()));
    let config = Some(own.join("config")).filter(|own| own.exists()).unwrap_or(packaged);
    let parameters = match own.join("parameters") {
        file if file.exists() => bounded_file::read(&file)?,
        _ => String::new(),
    };
    let parameters = parameters.split_whitespace().collect::<Vec<_>>().join(" ");
    Ok(Candidate { name, boot: ConfiguredKernel { kernel, parameters }, config })
}

/// Lists the differences of the parameters and of the build configurations.
pub(super) fn differences(before: &Candidate, after: &Candidate) -> Result<Vec<String>> {
    let mut lines = changes(&[before, after].map(|candidate| settings(&candidate.boot.parameters, ' ')));
    if before.config.exists() && after.config.exists() {
        let texts = [bounded_file::read(&before.config)?, bounded_file::read(&after.config)?];
        lines.extend(changes(&texts.each_ref().map(|text| settings(text, '\n'))));
    }
    Ok(lines)
}

fn settings(text: &str, separator: char) -> BTreeMap<&str, &str> {
    let words =
        text.split(separator).map(str::trim).filter(|word| !word.is_empty() && !word.starts_with('#'));
    words.map(|word| word.split_once('=').unwrap_or((word, ""))).collect()
}

fn changes([before, after]: &[BTreeMap<&str, &str>; 2]) -> Vec<String> {
    let keys = before.keys().chain(after.keys().filter(|key| !before.contains_key(*key)));
    let differ = keys.filter(|key| before.get(*key) != after.get(*key));
    let value = |of: &BTreeMap<&str, &str>, key: &str| match of.get(key) {
        Some(&"") => "set".to_owned(),
        Some(value) => (*value).to_owned(),
        None => "not set".to_owned(),
    };
    differ.map(|key| format!("{key}: {}, {}", value(before, key), value(after, key))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_changed_settings() {
        let texts =
            ["CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_C=m\n", "CONFIG_A=y\nCONFIG_B=y\nCONFIG_C=y\n"];
        let lines = changes(&texts.map(|text| settings(text, '\n')));
        assert_eq!(lines, ["CONFIG_C: m, y", "CONFIG_B: not set, y"]);
        assert_eq!(
            changes(&["quiet", "quiet debug"].map(|text| settings(text, ' '))),
            ["debug: not set, set"]
        );
    }
}
