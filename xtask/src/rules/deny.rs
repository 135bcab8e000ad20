//! Rule `deny`: licences, banned crates and sources of all dependencies are as the tables here want them. Must not
//! look at advisories: they change without a change here, and need the network.

use anyhow::{Context, Result};
use cargo_metadata::semver::VersionReq;
use cargo_metadata::{CargoOpt, MetadataCommand, Package};
use spdx::{Expression, Licensee, ParseMode};

use super::Verdict;
use crate::workspace::{TARGET, Workspace};

/// Licences that let a static Apache-2.0 binary be handed on without further terms.
const LICENCES: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Zlib",
];

const OPENSSL: &str = "a C library that a static binary would have to carry and patch; use rustls";

/// Crates that nothing may lead to, and why.
const BANNED: &[(&str, &str)] = &[
    ("openssl", OPENSSL),
    ("openssl-sys", OPENSSL),
    ("native-tls", "leads to openssl; use rustls"),
    ("rustables", "GPL-3.0, and nlink speaks nftables"),
    ("chrono", "jiff is the calendar of the workspace; two would disagree"),
];

/// The only place that crates come from, beside this tree.
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

const ADVICE: &str = "take another crate, or accept this one in xtask/src/rules/deny.rs and say why";

/// Looks at every locked dependency.
pub(crate) fn hold(workspace: &Workspace) -> Result<Verdict> {
    let metadata = MetadataCommand::new()
        .current_dir(&workspace.root)
        .features(CargoOpt::AllFeatures)
        .other_options(["--locked", "--filter-platform", TARGET].map(str::to_owned))
        .exec()
        .context("cargo metadata of all dependencies")?;
    let complaints = metadata.packages.iter().flat_map(|package| {
        let complaints = complaints(package);
        complaints
            .into_iter()
            .map(move |complaint| format!("{} {}: {complaint}", package.name, package.version))
    });
    Ok(Verdict::broken(ADVICE, complaints.collect()))
}

fn complaints(package: &Package) -> Vec<String> {
    let name = package.name.as_str();
    // What has no source is of this tree: Apache-2.0 by the workspace, and named by its path.
    let Some(source) = &package.source else {
        let anything = |version: &VersionReq| *version == VersionReq::STAR;
        let wild = package.dependencies.iter().filter(|to| to.path.is_none() && anything(&to.req));
        return wild.map(|to| format!("takes any version of {}", to.name)).collect();
    };
    let licence = licence(package.license.as_deref());
    [banned(name), licence, foreign(&source.repr)].into_iter().flatten().collect()
}

fn banned(name: &str) -> Option<String> {
    let (_, reason) = BANNED.iter().find(|(banned, _)| *banned == name)?;
    Some(format!("is banned: {reason}"))
}

fn licence(expression: Option<&str>) -> Option<String> {
    let Some(text) = expression else { return Some("names no licence".to_owned()) };
    let Ok(expression) = Expression::parse_mode(text, ParseMode::LAX) else {
        return Some(format!("its licence `{text}` is no SPDX expression"));
    };
    let allowed = LICENCES.iter().map(|licence| Licensee::parse(licence).expect("the table is of SPDX"));
    let allowed: Vec<Licensee> = allowed.collect();
    let may_be_taken = expression.evaluate(|asked| allowed.iter().any(|licensee| licensee.satisfies(asked)));
    (!may_be_taken).then(|| format!("its licence is `{text}`"))
}

fn foreign(source: &str) -> Option<String> {
    (source != CRATES_IO).then(|| format!("comes from {source}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_licence_is_accepted_if_one_of_its_choices_is() {
        for text in ["MIT", "MIT/Apache-2.0", "GPL-3.0-only OR MIT", "(MIT OR Apache-2.0) AND Unicode-3.0"] {
            assert_eq!(licence(Some(text)), None);
        }
        for text in ["GPL-3.0-only", "MIT AND GPL-2.0-only", "Apache-2.0 WITH Classpath-exception-2.0"] {
            assert_eq!(licence(Some(text)), Some(format!("its licence is `{text}`")));
        }
        assert!(licence(Some("as you like")).is_some_and(|said| said.contains("no SPDX expression")));
        assert!(licence(None).is_some());
    }

    #[test]
    fn a_banned_crate_is_told_with_its_reason() {
        assert!(banned("openssl-sys").is_some_and(|said| said.contains("use rustls")));
        assert_eq!(banned("rustls"), None);
    }

    #[test]
    fn crates_come_from_crates_io_only() {
        assert_eq!(foreign(CRATES_IO), None);
        assert!(foreign("git+https://github.com/rust-lang/libc").is_some());
    }
}
