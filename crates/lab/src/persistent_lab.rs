//! Labs that stand for someone to look around in: who holds each one, and by which descriptors.
//!
//! A file per lab says it, in a folder that only its user can write; the lab itself is held by its holder's descriptors
//! alone, so that a file whose holder is gone is only a leftover to be swept away.

use std::{
    os::fd::{AsFd, AsRawFd},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use machine::{Holder, PrivateFolder};
use samples::UnixMillis;
use scenario::Scenario;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use topology::Topology;

use crate::{machines::absent, stop::Stop, trial::now};

/// What the name of a lab's file has more than the lab's.
const ENDING: &str = ".json";

/// A lab that stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersistentLab {
    pub name: String,
    /// The scenario whose lab it is.
    pub scenario: String,
    /// The process that holds it.
    pub holder: Holder,
    /// When it was raised.
    pub since: UnixMillis,
    pub hosts: Vec<PersistentHost>,
    /// What of it the kernel lacks, and what only a run has.
    pub missing: Vec<String>,
}

impl PersistentLab {
    pub(crate) fn file(&self) -> String {
        file_of(&self.name)
    }

    fn into_taken(self) -> RegistryError {
        RegistryError::Taken { name: self.name, pid: self.holder.pid }
    }
}

/// A host of a standing lab.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersistentHost {
    pub name: String,
    /// The holder's descriptor of its network namespace.
    pub descriptor: i32,
    /// Its addresses, `device address`.
    pub addresses: Vec<String>,
}

/// What can go wrong with standing labs.
#[derive(Debug, Error)]
pub enum RegistryError {
    /// A file of the registry says nothing of a lab.
    #[error("{} is no record of a lab, or another version's: remove it ({source})", file.display())]
    Record {
        file: PathBuf,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// The name is taken.
    #[error("a lab `{name}` is up already (held by process {pid}); remove it with `plumb lab down {name}`")]
    Taken {
        name: String,
        /// Its holder.
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
    Raise(#[from] topology::CreateError),
    /// The registry's folder, or a process, is not as it must be.
    #[error(transparent)]
    System(#[from] machine::ProcessError),
}

/// The labs that stand on this machine, for this user.
#[derive(Debug)]
pub struct Registry {
    folder: PrivateFolder,
}

impl Registry {
    /// The registry in `folder`; one that is not there has no labs.
    ///
    /// # Errors
    /// When another user could have written it.
    pub fn open(folder: &Path) -> Result<Self, RegistryError> {
        Ok(Self { folder: PrivateFolder::open(folder)? })
    }

    /// The same to enter labs, which makes the folder.
    ///
    /// # Errors
    /// When another user could have written it, or it cannot be made.
    pub fn create(folder: &Path) -> Result<Self, RegistryError> {
        Ok(Self { folder: PrivateFolder::create(folder)? })
    }

    /// Every lab that is registered, by name; leftovers of holders that died are among them.
    ///
    /// # Errors
    /// When the folder cannot be read, or a file in it is not this user's or no record.
    pub fn list(&self) -> Result<Vec<PersistentLab>, RegistryError> {
        let mut found = Vec::new();
        for file in self.folder.names()?.into_iter().filter(|name| name.ends_with(ENDING)) {
            // One that was taken down meanwhile is not there.
            if let Some(text) = self.folder.read(&file)? {
                let lab = parse(&file, &text);
                found.push(lab.map_err(|source| self.no_record(&file, source))?);
            }
        }
        found.sort_by(|a: &PersistentLab, b| a.name.cmp(&b.name));
        Ok(found)
    }

    /// The lab of that name, or the only one when no name is given.
    ///
    /// # Errors
    /// When there is none, or several and no name.
    pub fn find(&self, name: Option<&str>) -> Result<PersistentLab, RegistryError> {
        let mut standing: Vec<PersistentLab> =
            self.list()?.into_iter().filter(|lab| lab.holder.is_alive()).collect();
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
        ready: impl FnOnce(&PersistentLab),
    ) -> Result<(), RegistryError> {
        match self.list()?.into_iter().find(|lab| lab.name == name) {
            Some(taken) if taken.holder.is_alive() => return Err(taken.into_taken()),
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

    /// Takes a lab down: ends its holder, with whom its namespaces go.
    ///
    /// # Errors
    /// When the holder is another user's process.
    pub fn down(&self, standing: &PersistentLab) -> Result<(), RegistryError> {
        standing.holder.end(Duration::from_secs(5))?;
        self.remove(&standing.name)
    }

    /// Sweeps away what holders that died have left in the registry, and says what it was.
    ///
    /// # Errors
    /// When a file cannot be removed.
    pub fn sweep(&self) -> Result<Vec<PersistentLab>, RegistryError> {
        let dead: Vec<PersistentLab> =
            self.list()?.into_iter().filter(|lab| !lab.holder.is_alive()).collect();
        for lab in &dead {
            self.remove(&lab.name)?;
        }
        Ok(dead)
    }

    fn enter(&self, standing: &PersistentLab) -> Result<(), RegistryError> {
        let file = standing.file();
        let text = serde_json::to_string_pretty(standing).map_err(|source| self.no_record(&file, source))?;
        match self.folder.write_new(&file, &text) {
            Err(error) if error.exists_already() => {
                let taken = self.list()?.into_iter().find(|lab| lab.name == standing.name);
                Err(taken.unwrap_or_else(|| standing.clone()).into_taken())
            }
            written => Ok(written?),
        }
    }

    fn no_record(&self, file: &str, source: serde_json::Error) -> RegistryError {
        RegistryError::Record { file: self.folder.path(file), source }
    }

    fn remove(&self, name: &str) -> Result<(), RegistryError> {
        Ok(self.folder.remove(&file_of(name))?)
    }
}

fn file_of(name: &str) -> String {
    format!("{name}{ENDING}")
}

/// What a file says, whose name is the lab's.
pub(crate) fn parse(file: &str, text: &str) -> Result<PersistentLab, serde_json::Error> {
    let lab: PersistentLab = serde_json::from_str(text)?;
    (lab.file() == file).then_some(lab).ok_or_else(|| serde::de::Error::custom("it names another lab"))
}

fn describe(name: &str, scenario: &Scenario, topology: &Topology) -> Result<PersistentLab, RegistryError> {
    let hosts = topology.namespaces().map(|(host, namespace)| PersistentHost {
        name: host.to_string(),
        descriptor: namespace.as_fd().as_raw_fd(),
        addresses: scenario
            .lab
            .addresses()
            .filter(|(device, _)| device.host == *host)
            .map(|(device, address)| format!("{} {address}", device.device))
            .collect(),
    });
    Ok(PersistentLab {
        name: name.to_owned(),
        scenario: scenario.name.clone(),
        holder: Holder::this_process()?,
        since: now(),
        hosts: hosts.collect(),
        missing: absent(topology, &scenario.lab),
    })
}

fn unknown(name: Option<&str>, standing: &[PersistentLab]) -> RegistryError {
    let names: Vec<&str> = standing.iter().map(|lab| lab.name.as_str()).collect();
    let standing = match names.as_slice() {
        [] => "`plumb lab up SCENARIO` creates one".to_owned(),
        names => format!("say which by its name (`--lab` for a shell): {}", names.join(", ")),
    };
    let name = match (name, names.is_empty()) {
        (Some(name), _) => format!("no lab `{name}` is up"),
        (None, true) => "no lab is up".to_owned(),
        (None, false) => "several labs are up".to_owned(),
    };
    RegistryError::Unknown { name, standing }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(name: &str, holder: Holder) -> PersistentLab {
        let (name, scenario) = (name.to_owned(), "quick".to_owned());
        PersistentLab { name, scenario, holder, since: UnixMillis(0), hosts: Vec::new(), missing: Vec::new() }
    }

    #[test]
    fn of_two_labs_raised_under_one_name_the_second_is_refused() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let registry = Registry::create(&folder.path().join("labs")).expect("a folder of our own");
        let first = Holder::this_process().expect("Linux");
        registry.enter(&standing("twin", first)).expect("writable");
        let second = Holder { start_time: first.start_time + 1, ..first };
        let error = registry.enter(&standing("twin", second)).expect_err("taken").to_string();
        assert!(error.contains("is up already"), "{error}");
        assert_eq!(registry.list().expect("readable"), [standing("twin", first)]);
    }

    #[test]
    fn a_file_that_names_another_lab_than_its_name_is_no_record() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let registry = Registry::create(&folder.path().join("labs")).expect("a folder of our own");
        let lab = standing("../elsewhere", Holder::this_process().expect("Linux"));
        let text = serde_json::to_string(&lab).expect("it is plain");
        for text in [text.as_str(), "{}"] {
            registry.folder.write_new("here.json", text).expect("it is new");
            let error = registry.list().expect_err("no record").to_string();
            assert!(error.contains("here.json is no record of a lab"), "{error}");
            registry.remove("here").expect("it is there");
        }
    }

    #[test]
    fn only_labs_whose_holder_is_gone_are_swept_away() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let registry = Registry::create(&folder.path().join("labs")).expect("a folder of our own");
        let alive = Holder::this_process().expect("Linux");
        let dead = Holder { start_time: alive.start_time + 1, ..alive };
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
