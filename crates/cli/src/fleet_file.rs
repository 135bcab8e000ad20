//! Reads the configuration file of a fleet member or controller.

use std::{
    collections::BTreeMap,
    env,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Context;
use fleet::{NKey, PublicKey, ServerAccess};
use machine::HostPolicy;
use serde::Deserialize;
use toml::Spanned;

use crate::{bounded_file, failure::Misuse, misread, misread::Misread, settings};

const VARIABLE: &str = "PLUMB_FLEET";
const HELP: &str = "`plumb member --help` describes this file";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    server: String,
    name: Option<Spanned<String>>,
    key: Option<PathBuf>,
    ca: Option<PathBuf>,
    controllers: Option<BTreeMap<Spanned<String>, Spanned<String>>>,
    policy: Option<HostPolicy>,
}

#[derive(Debug)]
pub(crate) struct FleetFile {
    pub(crate) access: Arc<ServerAccess>,
    pub(crate) controllers: BTreeMap<String, PublicKey>,
    pub(crate) policy: HostPolicy,
}

impl FleetFile {
    pub(crate) fn of_user() -> anyhow::Result<Self> {
        let usual =
            || settings::file().map(|file| file.with_file_name("fleet.toml")).filter(|file| file.exists());
        let file = env::var_os(VARIABLE).map(PathBuf::from).or_else(usual);
        let file = file.ok_or_else(|| {
            Misuse::new("the fleet's NATS server is not configured").hint(
                "`plumb fleet add NAME --controller` creates a configuration file: store it as \
                    ~/.config/plumb/fleet.toml, or set PLUMB_FLEET to its path",
            )
        })?;
        Self::read(&file, None)
    }

    /// Paths are relative to the file's directory. `called` overrides the name in the file.
    pub(crate) fn read(file: &Path, called: Option<&str>) -> anyhow::Result<Self> {
        let text = bounded_file::read_trusted(file)?;
        let Document { server, name, key, ca, controllers, policy } = misread::parse(file, &text, HELP)?;
        let is_none = |name: &&Spanned<String>| !fleet::is_name(name.get_ref());
        if let Some(name) = controllers.iter().flat_map(BTreeMap::keys).chain(&name).find(is_none) {
            let message = format!("a name has {}", fleet::NAME_RULE);
            return Err(Misread::new(file, &text, name.span(), message, HELP).into());
        }
        if let Some(called) = called.filter(|called| !fleet::is_name(called)) {
            return Err(Misuse::new(format!("invalid name `{called}`")).hint(fleet::NAME_RULE).into());
        }
        let name = called.map(str::to_owned).or(name.map(Spanned::into_inner)).ok_or_else(|| {
            Misuse::new(format!("{} does not set `name`", file.display()))
                .hint("add `name = \"rack-1\"`, or use --name")
        })?;
        let resolve = |path: PathBuf| file.parent().map(|folder| folder.join(&path)).unwrap_or(path);
        let key = key.map(|key| read_key(&resolve(key))).transpose()?;
        let ca = ca.map(|ca| bounded_file::read_trusted(&resolve(ca))).transpose()?;
        let access = Arc::new(ServerAccess { server, name, key, ca });
        let key = |(name, key): (Spanned<String>, Spanned<String>)| match PublicKey::read(key.get_ref()) {
            Ok(public) => Ok((name.into_inner(), public)),
            Err(error) => Err(Misread::new(file, &text, key.span(), error.to_string(), HELP)),
        };
        let controllers = controllers.into_iter().flatten().map(key).collect::<Result<_, _>>()?;
        Ok(Self { access, controllers, policy: policy.unwrap_or_default() })
    }
}

fn read_key(file: &Path) -> anyhow::Result<NKey> {
    NKey::read(&bounded_file::read_secret(file)?).with_context(|| format!("the key {}", file.display()))
}
