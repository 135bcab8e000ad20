//! Rule `deny`: licences, banned crates and sources of all dependencies follow the tables below. Advisories are not
//! checked: they change without a change here and need the network.

use anyhow::{Context, Result};
use cargo_metadata::semver::VersionReq;
use cargo_metadata::{CargoOpt, MetadataCommand, Package};
use spdx::{Expression, Licensee, ParseMode};

use super::Verdict;
use crate::workspace::{TARGET, Workspace};

/// Licences that allow the distribution of a static Apache-2.0 binary without further terms.
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

const OPENSSL: &str = "a C library that a static binary would have to include and update; use rustls";

/// Banned crates, also as indirect dependencies, with the reason.
const BANNED: &[(&str, &str)] = &[
    ("openssl", OPENSSL),
    ("openssl-sys", OPENSSL),
    ("native-tls", "leads to openssl; use rustls"),
    ("rustables", "GPL-3.0; nlink supports nftables"),
    ("chrono", "the workspace uses jiff; two calendars could disagree"),
];

/// The only allowed source of crates outside this tree.
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

const ADVICE: &str = "use another crate, or accept this one in xtask/src/rules/deny.rs with a reason";

/// Checks every locked dependency.
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
    // Packages without a source belong to this tree: Apache-2.0 by the workspace.
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
        return Some(format!("its licence `{text}` is not an SPDX expression"));
    };
    let allowed = LICENCES.iter().map(|licence| Licensee::parse(licence).expect("the table has SPDX names"));
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
    fn accepts_a_licence_with_one_accepted_choice() {
        for text in ["MIT", "MIT/Apache-2.0", "GPL-3.0-only OR MIT", "(MIT OR Apache-2.0) AND Unicode-3.0"] {
            assert_eq!(licence(Some(text)), None);
        }
        for text in ["GPL-3.0-only", "MIT AND GPL-2.0-only", "Apache-2.0 WITH Classpath-exception-2.0"] {
            assert_eq!(licence(Some(text)), Some(format!("its licence is `{text}`")));
        }
        assert!(licence(Some("as you like")).is_some_and(|said| said.contains("not an SPDX expression")));
        assert!(licence(None).is_some());
    }

    #[test]
    fn gives_the_reason_for_a_banned_crate() {
        assert!(banned("openssl-sys").is_some_and(|said| said.contains("use rustls")));
        assert_eq!(banned("rustls"), None);
    }

    #[test]
    fn accepts_only_crates_io() {
        assert_eq!(foreign(CRATES_IO), None);
        assert!(foreign("git+https://github.com/rust-lang/libc").is_some());
    }
}
