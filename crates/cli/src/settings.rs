//! The user's default settings ($XDG_CONFIG_HOME/plumb/config.toml). Flags and environment variables take precedence.

use std::{
    env,
    io::{self, ErrorKind},
    path::PathBuf,
};

use serde::{Deserialize, Deserializer, de::Error};

use crate::{bounded_file, commands::run::probe, misread};

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    #[serde(default, deserialize_with = "path")]
    pub(crate) db: Option<PathBuf>,
    pub(crate) colour: Option<bool>,
    pub(crate) plain: Option<bool>,
    pub(crate) pager: Option<String>,
    #[serde(default, deserialize_with = "trials")]
    pub(crate) trials: Option<u32>,
    #[serde(default, deserialize_with = "probes")]
    pub(crate) probe: Option<probe::Chosen>,
}

fn path<'de, D: Deserializer<'de>>(from: D) -> Result<Option<PathBuf>, D::Error> {
    let written = String::deserialize(from)?;
    if written.is_empty() {
        return Err(D::Error::custom("empty path: use the path of the database"));
    }
    let home = written.strip_prefix("~/").zip(env::var_os("HOME"));
    Ok(Some(home.map_or_else(|| PathBuf::from(&written), |(rest, home)| PathBuf::from(home).join(rest))))
}

fn trials<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    let trials = i64::deserialize(from)?;
    let fits = u32::try_from(trials).ok().filter(|trials| (1..=10_000).contains(trials));
    fits.map(Some).ok_or_else(|| D::Error::custom("use 1 to 10000 trials"))
}

fn probes<'de, D: Deserializer<'de>>(from: D) -> Result<Option<probe::Chosen>, D::Error> {
    probe::chosen(&String::deserialize(from)?).map(Some).map_err(D::Error::custom)
}

const HELP: &str = "`plumb config --help` describes this file";

impl Settings {
    pub(crate) fn read() -> anyhow::Result<Self> {
        let Some(file) = file() else { return Ok(Self::default()) };
        // After `su` or `sudo -u`, HOME may still be another user's inaccessible directory.
        let is_absent = |error: &io::Error| {
            matches!(
                error.kind(),
                ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::PermissionDenied
            )
        };
        match bounded_file::read_trusted(&file) {
            Ok(text) => Ok(misread::parse(&file, &text, HELP)?),
            Err(error) if error.downcast_ref().is_some_and(is_absent) => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }
}

/// Returns the file's path (XDG Base Directory Specification). Returns `None` if there is no home directory.
pub(crate) fn file() -> Option<PathBuf> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    // The specification says to ignore relative paths.
    let of_xdg = set("XDG_CONFIG_HOME").filter(|folder| folder.is_absolute());
    let folder = of_xdg.or_else(|| set("HOME").map(|home| home.join(".config")))?;
    Some(folder.join("plumb/config.toml"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use samples::ProbeKind;

    use super::*;
    use crate::misread::Misread;

    fn parsed(text: &str) -> Result<Settings, Misread> {
        misread::parse(Path::new("config.toml"), text, HELP)
    }

    #[test]
    fn reads_all_settings() {
        assert_eq!(parsed("").expect("an empty file is valid"), Settings::default());
        let text = "db = \"/srv/runs.db\"\ncolour = false\nplain = true\npager = \"more\"\ntrials = 7\nprobe = \"cpu\"\n";
        let settings = Settings {
            db: Some("/srv/runs.db".into()),
            colour: Some(false),
            plain: Some(true),
            pager: Some("more".to_owned()),
            trials: Some(7),
            probe: Some(probe::Chosen(vec![ProbeKind::Cpu])),
        };
        assert_eq!(parsed(text).expect("a file"), settings);
    }

    #[test]
    fn reports_errors_with_location() {
        for (text, expected, at) in [
            ("plain = true\ntrails = 7", "unknown field `trails`", 13),
            ("plain = 1", "invalid type", 8),
            ("plain = true\ntrials = 0", "use 1 to 10000 trials", 22),
            ("probe = \"strace\"", "no probe `strace`", 8),
            ("db = \"\"", "empty path", 5),
        ] {
            let error = parsed(text).expect_err(expected);
            assert!(error.message.contains(expected), "{text:?}: {}", error.message);
            assert_eq!(error.at.start, at, "{text:?}: {error:?}");
        }
    }
}
