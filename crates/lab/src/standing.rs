//! Labs that stand for someone to look around in: who keeps each one, and where its namespaces are held.
//!
//! A file per lab says it; the lab itself is held by its keeper's descriptors alone, so that a file whose
//! keeper is gone is only a leftover to be swept away.

use std::{
    fs, io,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use machine::Keeper;
use samples::UnixMillis;
use scenario::Scenario;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use topology::Topology;

use crate::{machines::absent, stop::Stop, trial::now};

/// A lab that stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// Its name.
    pub name: String,
    /// The scenario whose lab it is.
    pub scenario: String,
    /// The process that holds it.
    pub keeper: Keeper,
    /// When it was raised.
    pub since: UnixMillis,
    /// Its hosts.
    pub hosts: Vec<StandingHost>,
    /// What of it the kernel lacks, and what only a run has.
    pub missing: Vec<String>,
}

impl Standing {
    fn into_taken(self) -> RegistryError {
        RegistryError::Taken { name: self.name, pid: self.keeper.pid }
    }
}

/// A host of a standing lab.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandingHost {
    /// Its name.
    pub name: String,
    /// Its network namespace, as held by the keeper.
    pub namespace: PathBuf,
    /// Its addresses, `device address`.
    pub addresses: Vec<String>,
}

/// What can go wrong with standing labs.
#[derive(Debug, Error)]
pub enum RegistryError {
    /// A file of the registry could not be read or written.
    #[error("cannot {operation} {path}: {source}")]
    File {
        /// What was tried.
        operation: &'static str,
        /// On what.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The name is taken.
    #[error(
        "a lab `{name}` stands already (kept by process {pid}); take it down with `plumb lab down {name}`"
    )]
    Taken {
        /// Its name.
        name: String,
        /// Its keeper.
        pid: u32,
    },
    /// There is none of that name.
    #[error("{name}; {standing}")]
    Unknown {
        /// What was asked for and is not there.
        name: String,
        /// What stands, and how to say which is meant.
        standing: String,
    },
    /// The lab could not be raised.
    #[error(transparent)]
    Raise(#[from] topology::RaiseError),
    /// Something of a process could not be learned or done.
    #[error(transparent)]
    Process(#[from] machine::ProcessError),
}

/// The labs that stand on this machine, for this user.
#[derive(Debug, Clone)]
pub struct Registry {
    folder: PathBuf,
}

impl Registry {
    /// The registry in `folder`, which is made when the first lab is entered.
    #[must_use]
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Every lab that is registered, by name; leftovers of keepers that died are among them.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn list(&self) -> Result<Vec<Standing>, RegistryError> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(self.failed("read", &self.folder, source)),
        };
        let mut found: Vec<Standing> = entries
            .filter_map(Result::ok)
            // A draft is not a lab yet.
            .filter(|entry| entry.path().extension().is_some_and(|ending| ending == "json"))
            .filter_map(|entry| fs::read_to_string(entry.path()).ok())
            .filter_map(|text| serde_json::from_str(&text).ok())
            .collect();
        found.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(found)
    }

    /// The lab of that name, or the only one when no name is given.
    ///
    /// # Errors
    /// When there is none, or several and no name.
    pub fn find(&self, name: Option<&str>) -> Result<Standing, RegistryError> {
        let mut standing: Vec<Standing> =
            self.list()?.into_iter().filter(|lab| lab.keeper.is_alive()).collect();
        let place = match name {
            Some(name) => standing.iter().position(|lab| lab.name == name),
            None if standing.len() == 1 => Some(0),
            None => None,
        };
        place.map(|place| standing.swap_remove(place)).ok_or_else(|| unknown(name, &standing))
    }

    /// Raises the scenario's lab as `name`, calls `ready` with what stands, and keeps it until `stop` is asked.
    ///
    /// # Errors
    /// When the name is taken, or the lab cannot be raised or entered.
    pub fn keep(
        &self,
        name: &str,
        scenario: &Scenario,
        stop: &Stop,
        ready: impl FnOnce(&Standing),
    ) -> Result<(), RegistryError> {
        match self.list()?.into_iter().find(|lab| lab.name == name) {
            Some(taken) if taken.keeper.is_alive() => return Err(taken.into_taken()),
            Some(_) => self.remove(name)?,
            None => {}
        }
        let topology = Topology::raise(&scenario.lab)?;
        let standing = describe(name, scenario, &topology)?;
        self.enter(&standing)?;
        ready(&standing);
        while !stop.is_asked() {
            thread::sleep(Duration::from_millis(50));
        }
        self.remove(name)
    }

    /// Takes a lab down: ends its keeper, with whom its namespaces go.
    ///
    /// # Errors
    /// When the keeper may not be signalled by this user.
    pub fn down(&self, standing: &Standing) -> Result<(), RegistryError> {
        standing.keeper.end(Duration::from_secs(5))?;
        self.remove(&standing.name)
    }

    /// Sweeps away what keepers that died have left in the registry, and says what it was.
    ///
    /// # Errors
    /// When a file cannot be removed.
    pub fn sweep(&self) -> Result<Vec<Standing>, RegistryError> {
        let dead: Vec<Standing> = self.list()?.into_iter().filter(|lab| !lab.keeper.is_alive()).collect();
        for lab in &dead {
            self.remove(&lab.name)?;
        }
        Ok(dead)
    }

    fn enter(&self, standing: &Standing) -> Result<(), RegistryError> {
        fs::create_dir_all(&self.folder)
            .map_err(|source| self.failed("make folder", &self.folder, source))?;
        let path = self.file(&standing.name);
        let draft = self.folder.join(format!(".{}.{}.draft", standing.name, standing.keeper.pid));
        let text = serde_json::to_string_pretty(standing).map_err(io::Error::from);
        // Written aside and linked: no reader sees half a file, and of two that raise the same name at once
        // the second fails, where replacing the file would leave the first lab standing unseen.
        let written =
            text.and_then(|text| fs::write(&draft, text)).and_then(|()| fs::hard_link(&draft, &path));
        // Whatever became of it, the draft has served; one that stays is never read.
        let _ = fs::remove_file(&draft);
        match written {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let taken = self.list()?.into_iter().find(|lab| lab.name == standing.name);
                Err(taken.unwrap_or_else(|| standing.clone()).into_taken())
            }
            written => written.map_err(|source| self.failed("write", &path, source)),
        }
    }

    fn remove(&self, name: &str) -> Result<(), RegistryError> {
        let path = self.file(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.failed("remove", &path, error)),
            _ => Ok(()),
        }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.json"))
    }

    fn failed(&self, operation: &'static str, path: &Path, source: io::Error) -> RegistryError {
        RegistryError::File { operation, path: path.to_owned(), source }
    }
}

fn describe(name: &str, scenario: &Scenario, topology: &Topology) -> Result<Standing, RegistryError> {
    let hosts = topology.namespaces().map(|(host, namespace)| StandingHost {
        name: host.to_string(),
        namespace: namespace.proc_path(),
        addresses: scenario
            .lab
            .addresses()
            .filter(|(device, _)| device.host == *host)
            .map(|(device, address)| format!("{} {address}", device.device))
            .collect(),
    });
    Ok(Standing {
        name: name.to_owned(),
        scenario: scenario.name.clone(),
        keeper: Keeper::this_process()?,
        since: now(),
        hosts: hosts.collect(),
        missing: absent(topology, &scenario.lab),
    })
}

fn unknown(name: Option<&str>, standing: &[Standing]) -> RegistryError {
    let names: Vec<&str> = standing.iter().map(|lab| lab.name.as_str()).collect();
    let standing = match names.as_slice() {
        [] => "`plumb lab up SCENARIO` raises one".to_owned(),
        names => format!("say which by its name (`--lab` for a shell): {}", names.join(", ")),
    };
    let name = match (name, names.is_empty()) {
        (Some(name), _) => format!("no lab `{name}` stands"),
        (None, true) => "no lab stands".to_owned(),
        (None, false) => "several labs stand".to_owned(),
    };
    RegistryError::Unknown { name, standing }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(name: &str, keeper: Keeper) -> Standing {
        let (name, scenario) = (name.to_owned(), "quick".to_owned());
        Standing { name, scenario, keeper, since: UnixMillis(0), hosts: Vec::new(), missing: Vec::new() }
    }

    #[test]
    fn of_two_labs_raised_under_one_name_the_second_is_refused() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let registry = Registry::new(folder.path().join("labs"));
        let first = Keeper::this_process().expect("Linux");
        registry.enter(&standing("twin", first)).expect("writable");
        let second = Keeper { start_time: first.start_time + 1, ..first };
        let error = registry.enter(&standing("twin", second)).expect_err("taken").to_string();
        assert!(error.contains("stands already"), "{error}");
        assert_eq!(registry.list().expect("readable"), [standing("twin", first)]);
    }

    #[test]
    fn only_labs_whose_keeper_is_gone_are_swept_away() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let registry = Registry::new(folder.path().join("labs"));
        let alive = Keeper::this_process().expect("Linux");
        let dead = Keeper { start_time: alive.start_time + 1, ..alive };
        registry.enter(&standing("here", alive)).expect("writable");
        registry.enter(&standing("gone", dead)).expect("writable");
        assert_eq!(registry.list().expect("readable").len(), 2);
        let swept = registry.sweep().expect("removable");
        assert_eq!(swept.iter().map(|lab| lab.name.as_str()).collect::<Vec<_>>(), ["gone"]);
        assert_eq!(registry.find(None).expect("one stands").name, "here");
        let error = registry.find(Some("gone")).expect_err("swept").to_string();
        assert!(error.contains("here"), "{error}");
    }
}
