//! `plumb fleet init`, `add` and `remove`: a folder with the names and keys of a fleet, from which the NATS server's list of users
//! is written. Must not know how a server is reached.

use std::{
    fs,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use anyhow::Context;
use clap::Args;
use fleet::{NKey, Role, User};
use serde::{Deserialize, Serialize};
use sys::output_file;

use crate::{bounded_file, destination::replace_text, exit::Exit, failure::Misuse, misread, output};

const REGISTER: &str = "register.toml";
const SERVER: &str = "nats.conf";
const USERS: &str = "users.conf";
/// Prefix of the line in a member's file that [`Register::update_members`] rewrites.
const CONTROLLERS: &str = "controllers = ";
const HELP: &str = "`plumb fleet init`, `add` and `remove` write this file";

/// Flags of `plumb fleet init`.
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// The address of the NATS server, as tls://broker.example:4222; nats:// is not encrypted
    server: String,
    #[command(flatten)]
    folder: FolderArgs,
}

/// Flags of `plumb fleet add`.
#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// What it is called: a member as in `member = "NAME"`
    name: String,
    /// It is not a member: it has agents started, by `plumb run`
    #[arg(long)]
    controller: bool,
    #[command(flatten)]
    folder: FolderArgs,
}

/// Flags of `plumb fleet remove`.
#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// What it is called
    name: String,
    #[command(flatten)]
    folder: FolderArgs,
}

#[derive(Debug, Args)]
struct FolderArgs {
    /// The folder of the fleet's keys
    #[arg(long, value_name = "FOLDER", default_value = "fleet")]
    folder: PathBuf,
}

/// Who is let in.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Register {
    server: String,
    #[serde(default)]
    users: Vec<User>,
}

impl Register {
    fn read(folder: &Path) -> anyhow::Result<Self> {
        let file = folder.join(REGISTER);
        if !file.exists() {
            let message = format!("{} has no fleet", folder.display());
            return Err(Misuse::new(message).hint("plumb fleet init tls://HOST:4222").into());
        }
        let text = bounded_file::read_trusted(&file)?;
        Ok(misread::parse(&file, &text, HELP)?)
    }

    fn write(&self, folder: &Path) -> anyhow::Result<()> {
        let text = toml::to_string(self).context("the register cannot be written as TOML")?;
        replace_text(&folder.join(USERS), &fleet::users(&self.users))?;
        replace_text(&folder.join(REGISTER), &text)
    }

    fn of(&self, role: Role) -> impl Iterator<Item = &User> {
        self.users.iter().filter(move |user| user.role == role)
    }

    /// The line with the controllers and their keys for a member's file.
    fn controllers(&self) -> String {
        let keys = self.of(Role::Controller).map(|user| format!("{:?} = {:?}", user.name, user.key));
        format!("{CONTROLLERS}{{ {} }}", keys.collect::<Vec<_>>().join(", "))
    }

    /// Rewrites that line in the members' files of this folder.
    fn update_members(&self, folder: &Path) -> anyhow::Result<()> {
        for member in self.of(Role::Member) {
            let file = folder.join(format!("{}.toml", member.name));
            // The user may have moved it to its host.
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

/// Makes the folder.
pub(super) fn init(args: &InitArgs) -> anyhow::Result<Exit> {
    let folder = &args.folder.folder;
    if !fleet::is_address(&args.server) || args.server.contains(['"', '\\', '\n']) {
        let message = format!("`{}` is no address of a NATS server", args.server);
        return Err(Misuse::new(message).hint("plumb fleet init tls://HOST:4222").into());
    }
    if [REGISTER, SERVER, USERS].iter().any(|name| folder.join(name).exists()) {
        let message = format!("{} has a fleet, or another server's files, already", folder.display());
        return Err(Misuse::new(message).hint("plumb fleet add NAME, or another --folder").into());
    }
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.with_context(|| format!("cannot make {}", folder.display()))?;
    let register = Register { server: args.server.clone(), users: Vec::new() };
    register.write(folder)?;
    let whole = folder.canonicalize().with_context(|| format!("cannot read {}", folder.display()))?;
    replace_text(&folder.join(SERVER), &server_config(&args.server, &whole.display().to_string()))?;
    output::prose(&format!(
        "{0}/{SERVER}: what the server is started with (`nats-server -c`). Let in who measures (`plumb fleet add NAME \
         --controller`), then the members (`plumb fleet add NAME`).",
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
        "# Written once by `plumb fleet init`, for you to change. Who is let in is a file of its own:\ninclude ./{USERS}\n\
         port: {port}\nmax_payload: 65536\n{tls}"
    )
}

/// Lets somebody in.
pub(super) fn add(args: &AddArgs) -> anyhow::Result<Exit> {
    let (folder, name) = (&args.folder.folder, &args.name);
    let mut register = Register::read(folder)?;
    if format!("{name}.toml") == REGISTER {
        return Err(
            Misuse::new(format!("`{name}` cannot be a name: {REGISTER} is the fleet's own file")).into()
        );
    }
    if !fleet::is_name(name) {
        return Err(Misuse::new(format!("`{name}` cannot be a name: {}", fleet::NAME_RULE)).into());
    }
    if register.users.iter().any(|user| user.name == *name) {
        return Err(Misuse::new(format!("`{name}` is let in already"))
            .hint(format!("plumb fleet remove {name}, and add it again for a new key"))
            .into());
    }
    let (key, role) = (NKey::generate(), if args.controller { Role::Controller } else { Role::Member });
    let file = folder.join(format!("{name}.nk"));
    output_file::write_new(&file, format!("{}\n", key.seed()).as_bytes(), 0o600).map_err(|error| {
        let hint = "a key left by an earlier `plumb fleet add`? remove it";
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
    let place = folder.display();
    output::prose(&match role {
        Role::Member => format!(
            "Copy {place}/{name}.toml and {name}.nk to its host and start `plumb member {name}.toml` there. The server reads its users \
             again by `nats-server --signal reload`."
        ),
        Role::Controller => format!(
            "Keep {place}/{name}.toml as ~/.config/plumb/fleet.toml, {name}.nk beside it, where plumb is run. The server reads its \
             users again by `nats-server --signal reload`. Members obey `{name}` once the files of this folder that name its key \
             (`controllers`) are on their hosts and they are started again."
        ),
    })?;
    Ok(Exit::Success)
}

/// Lets somebody in no more.
pub(super) fn remove(args: &RemoveArgs) -> anyhow::Result<Exit> {
    let (folder, name) = (&args.folder.folder, &args.name);
    let mut register = Register::read(folder)?;
    let Some(removed) = register.users.iter().find(|user| user.name == *name).map(|user| user.role) else {
        return Err(Misuse::new(format!("nobody is called `{name}` in {}", folder.display())).into());
    };
    register.users.retain(|user| user.name != *name);
    register.write(folder)?;
    if removed == Role::Controller {
        register.update_members(folder)?;
    }
    for ending in ["nk", "toml"] {
        // Moved elsewhere, it may be.
        let _ = fs::remove_file(folder.join(format!("{name}.{ending}")));
    }
    output::prose(
        "The server ends its connection once it reads its users again: `nats-server --signal reload`.",
    )?;
    Ok(Exit::Success)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_servers_configuration_has_its_port_and_encrypts_where_the_address_says_so() {
        let text = server_config("tls://broker.example:4333", "/srv/fleet");
        assert!(text.contains("include ./users.conf\nport: 4333\n"), "{text}");
        assert!(text.contains("cert_file: \"/srv/fleet/cert.pem\""), "{text}");
        assert!(!server_config("nats://198.18.0.1:4222", "/srv/fleet").contains("tls"));
    }
}
