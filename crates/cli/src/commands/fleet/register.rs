//! `plumb fleet init`, `add` and `remove`: manage a fleet's names and keys in a directory, and write the NATS
//! server's user list, without contacting a server.

use std::{
    fs,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use clap::Args;
use fleet::{NKey, Role, User};
use serde::{Deserialize, Serialize};
use sys::output_file;

use crate::{bounded_file, destination::replace_text, exit::Exit, failure::Misuse, misread, output};

const REGISTER: &str = "register.toml";
const SERVER: &str = "nats.conf";
const USERS: &str = "users.conf";
/// The start of the line in members' files that [`Register::update_members`] rewrites.
const CONTROLLERS: &str = "controllers = ";
const HELP: &str = "this file is written by `plumb fleet init`, `add` and `remove`";

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// URL of the NATS server, e.g. tls://broker.example:4222. With nats://, traffic is not encrypted
    server: String,
    #[command(flatten)]
    folder: FolderArgs,
}

#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// Name of the member or controller. Scenarios refer to a member as `at = "member:NAME"`
    name: String,
    /// Add a controller, which runs `plumb run`, instead of a member
    #[arg(long)]
    controller: bool,
    #[command(flatten)]
    folder: FolderArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// The name to remove
    name: String,
    #[command(flatten)]
    folder: FolderArgs,
}

#[derive(Debug, Args)]
struct FolderArgs {
    /// Directory of the fleet's keys
    #[arg(long, value_name = "FOLDER", default_value = "fleet")]
    folder: PathBuf,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Register {
    server: String,
    #[serde(default)]
    users: Vec<User>,
}

impl Register {
    fn check_new(&self, name: &str) -> Result<()> {
        if format!("{name}.toml") == REGISTER {
            return Err(Misuse::new(format!(
                "invalid name `{name}`: {REGISTER} is used by the fleet itself"
            ))
            .into());
        }
        if !fleet::is_name(name) {
            return Err(Misuse::new(format!("invalid name `{name}`: {}", fleet::NAME_RULE)).into());
        }
        if self.users.iter().any(|user| user.name == name) {
            return Err(Misuse::new(format!("`{name}` already exists"))
                .hint(format!("to replace its key, run `plumb fleet remove {name}` and add it again"))
                .into());
        }
        Ok(())
    }

    fn read(folder: &Path) -> Result<Self> {
        let file = folder.join(REGISTER);
        if !file.exists() {
            let message = format!("there is no fleet in {}", folder.display());
            return Err(Misuse::new(message).hint("plumb fleet init tls://HOST:4222").into());
        }
        let text = bounded_file::read_trusted(&file)?;
        Ok(misread::parse(&file, &text, HELP)?)
    }

    fn write(&self, folder: &Path) -> Result<()> {
        let text = toml::to_string(self).context("cannot encode the register as TOML")?;
        replace_text(&folder.join(USERS), &fleet::users(&self.users))?;
        replace_text(&folder.join(REGISTER), &text)
    }

    fn of(&self, role: Role) -> impl Iterator<Item = &User> {
        self.users.iter().filter(move |user| user.role == role)
    }

    fn controllers(&self) -> String {
        let keys = self.of(Role::Controller).map(|user| format!("{:?} = {:?}", user.name, user.key));
        format!("{CONTROLLERS}{{ {} }}", keys.collect::<Vec<_>>().join(", "))
    }

    fn update_members(&self, folder: &Path) -> Result<()> {
        for member in self.of(Role::Member) {
            let file = folder.join(format!("{}.toml", member.name));
            // The user may have moved the file to the member's host.
            let Ok(text) = bounded_file::read(&file) else { continue };
            let line = |line: &str| match line.starts_with(CONTROLLERS) {
                true => self.controllers() + "\n",
                false => format!("{line}\n"),
            };
            replace_text(&file, &text.lines().map(line).collect::<String>())?;
        }
        Ok(())
    }
}

pub(super) fn init(args: &InitArgs) -> Result<Exit> {
    let folder = &args.folder.folder;
    if !fleet::is_address(&args.server) || args.server.contains(['"', '\\', '\n']) {
        let message = format!("`{}` is not a NATS server URL", args.server);
        return Err(Misuse::new(message).hint("plumb fleet init tls://HOST:4222").into());
    }
    if [REGISTER, SERVER, USERS].iter().any(|name| folder.join(name).exists()) {
        let message = format!("{} already contains a fleet or another server's files", folder.display());
        return Err(Misuse::new(message)
            .hint(
                "add to it with plumb fleet add NAME, or choose another \
            --folder",
            )
            .into());
    }
    let created = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    created.with_context(|| format!("cannot create {}", folder.display()))?;
    let register = Register { server: args.server.clone(), users: Vec::new() };
    register.write(folder)?;
    let whole = folder.canonicalize().with_context(|| format!("cannot read {}", folder.display()))?;
    replace_text(&folder.join(SERVER), &server_config(&args.server, &whole.display().to_string()))?;
    output::prose(&format!(
        "Start the server with {0}/{SERVER} (`nats-server -c`). Then add controllers (`plumb fleet add \
            NAME --controller`) and members (`plumb fleet add NAME`).",
        folder.display()
    ))?;
    Ok(Exit::Success)
}

fn server_config(server: &str, folder: &str) -> String {
    let port = server.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok()).unwrap_or(4222);
    let tls = match server.starts_with("tls://") {
        true => format!("tls {{ cert_file: \"{folder}/cert.pem\", key_file: \"{folder}/key.pem\" }}\n"),
        false => String::new(),
    };
    format!(
        "# Written by `plumb fleet init`; edit as needed. Authorised users are in a separate \
            file:\ninclude ./{USERS}\nport: {port}\nmax_payload: 65536\n{tls}"
    )
}

pub(super) fn add(args: &AddArgs) -> Result<Exit> {
    let (folder, name) = (&args.folder.folder, &args.name);
    let mut register = Register::read(folder)?;
    register.check_new(name)?;
    let (key, role) = (NKey::generate(), if args.controller { Role::Controller } else { Role::Member });
    let file = folder.join(format!("{name}.nk"));
    output_file::write_new(&file, format!("{}\n", key.seed()).as_bytes(), 0o600).map_err(|error| {
        let hint = "if the key was left by an earlier `plumb fleet add`, remove it";
        anyhow::Error::from(error).context(hint)
    })?;
    let mut text = format!("server = \"{}\"\nname = \"{name}\"\nkey = \"{name}.nk\"\n", register.server);
    if role == Role::Member {
        text += &format!("{}\n", register.controllers());
    }
    replace_text(&folder.join(format!("{name}.toml")), &text)?;
    register.users.push(User { name: name.clone(), role, key: key.public() });
    register.write(folder)?;
    if role == Role::Controller {
        register.update_members(folder)?;
    }
    output::prose(&next_steps(&folder.display().to_string(), name, role))?;
    Ok(Exit::Success)
}

fn next_steps(place: &str, name: &str, role: Role) -> String {
    match role {
        Role::Member => format!(
            "Copy {place}/{name}.toml and {name}.nk to the member's host and start `plumb member {name}.toml` \
                there. Reload the server's users with `nats-server --signal reload`."
        ),
        Role::Controller => format!(
            "On the controller, store {place}/{name}.toml as ~/.config/plumb/fleet.toml, with {name}.nk in \
                the same directory. Reload the server's users with `nats-server --signal reload`. To make \
                members accept `{name}`, copy their updated files from this directory to \
                their hosts and restart them."
        ),
    }
}

pub(super) fn remove(args: &RemoveArgs) -> Result<Exit> {
    let (folder, name) = (&args.folder.folder, &args.name);
    let mut register = Register::read(folder)?;
    let Some(removed) = register.users.iter().find(|user| user.name == *name).map(|user| user.role) else {
        return Err(Misuse::new(format!(
            "there is no member or controller `{name}` in {}",
            folder.display()
        ))
        .into());
    };
    register.users.retain(|user| user.name != *name);
    register.write(folder)?;
    if removed == Role::Controller {
        register.update_members(folder)?;
    }
    for ending in ["nk", "toml"] {
        let _ = fs::remove_file(folder.join(format!("{name}.{ending}")));
    }
    output::prose("To close its connection, reload the server's users with `nats-server --signal reload`.")?;
    Ok(Exit::Success)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn server_config_has_port_and_optional_tls() {
        let text = server_config("tls://broker.example:4333", "/srv/fleet");
        assert!(text.contains("include ./users.conf\nport: 4333\n"), "{text}");
        assert!(text.contains("cert_file: \"/srv/fleet/cert.pem\""), "{text}");
        assert!(!server_config("nats://198.18.0.1:4222", "/srv/fleet").contains("tls"));
    }
}
