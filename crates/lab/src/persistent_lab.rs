//! Labs that remain after the command that created them.
//!
//! Each lab has a file in a folder that only its user can write to. Its namespaces exist only as descriptors
//! of the holder process, so the file is a leftover if the holder has exited.

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

use crate::{machines::absent, record::now, stop::Stop};

const SUFFIX: &str = ".json";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersistentLab {
    pub name: String,
    pub scenario: String,
    pub holder: Holder,
    pub since: UnixMillis,
    pub hosts: Vec<PersistentHost>,
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

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersistentHost {
    pub name: String,
    pub descriptor: i32,
    pub addresses: Vec<String>,
}

#[derive(Debug, Error)]
pub enum RegistryError {
    #[error("{} is not a lab record, or from another version: {source}; remove the file", file.display())]
    Record {
        file: PathBuf,
        #[source]
        source: serde_json::Error,
    },
    #[error("lab `{name}` is already up (held by process {pid}); remove it with `plumb lab down {name}`")]
    Taken { name: String, pid: u32 },
    #[error("{name}; {standing}")]
    Unknown { name: String, standing: String },
    #[error(transparent)]
    Raise(#[from] topology::CreateError),
    #[error(transparent)]
    System(#[from] machine::ProcessError),
}

#[derive(Debug)]
pub struct Registry {
    folder: PrivateFolder,
}

impl Registry {
    /// If the folder does not exist, the registry is empty.
    pub fn open(folder: &Path) -> Result<Self, RegistryError> {
        Ok(Self { folder: PrivateFolder::open(folder)? })
    }

    pub fn create(folder: &Path) -> Result<Self, RegistryError> {
        Ok(Self { folder: PrivateFolder::create(folder)? })
    }

    /// Lists the labs by name, including leftovers of holders that have exited.
    pub fn list(&self) -> Result<Vec<PersistentLab>, RegistryError> {
        let mut found = Vec::new();
        for file in self.folder.names()?.into_iter().filter(|name| name.ends_with(SUFFIX)) {
            if let Some(text) = self.folder.read(&file)? {
                let lab = parse(&file, &text);
                found.push(lab.map_err(|source| self.no_record(&file, source))?);
            }
        }
        found.sort_by(|a: &PersistentLab, b| a.name.cmp(&b.name));
        Ok(found)
    }

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
        let topology = Topology::create(&scenario.lab)?;
        let standing = describe(name, scenario, &topology)?;
        self.enter(&standing)?;
        ready(&standing);
        while !stop.is_asked() {
            thread::sleep(Duration::from_millis(50));
        }
        self.remove(name)
    }

    pub fn down(&self, standing: &PersistentLab) -> Result<(), RegistryError> {
        standing.holder.end(Duration::from_secs(5))?;
        self.remove(&standing.name)
    }

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
    format!("{name}{SUFFIX}")
}

/// The file name must match the name of the lab.
pub(crate) fn parse(file: &str, text: &str) -> Result<PersistentLab, serde_json::Error> {
    let lab: PersistentLab = serde_json::from_str(text)?;
    (lab.file() == file)
        .then_some(lab)
        .ok_or_else(|| serde::de::Error::custom("the lab's name differs from the file name"))
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
        names => format!("select one by name (`--lab` for a shell): {}", names.join(", ")),
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
    fn refuses_second_lab_with_same_name() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let registry = Registry::create(&folder.path().join("labs")).expect("a folder of our own");
        let first = Holder::this_process().expect("Linux");
        registry.enter(&standing("same", first)).expect("writable");
        let second = Holder { start_time: first.start_time + 1, ..first };
        let error = registry.enter(&standing("same", second)).expect_err("taken").to_string();
        assert!(error.contains("is already up"), "{error}");
        assert_eq!(registry.list().expect("readable"), [standing("same", first)]);
    }

    #[test]
    fn refuses_record_with_wrong_file_name() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let registry = Registry::create(&folder.path().join("labs")).expect("a folder of our own");
        let lab = standing("../elsewhere", Holder::this_process().expect("Linux"));
        let text = serde_json::to_string(&lab).expect("it is plain");
        for text in [text.as_str(), "{}"] {
            registry.folder.write_new("here.json", text).expect("it is new");
            let error = registry.list().expect_err("invalid record").to_string();
            assert!(error.contains("here.json is not a lab record"), "{error}");
            registry.remove("here").expect("it is there");
        }
    }

    #[test]
    fn sweeps_only_labs_of_dead_holders() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let registry = Registry::create(&folder.path().join("labs")).expect("a folder of our own");
        let alive = Holder::this_process().expect("Linux");
        let dead = Holder { start_time: alive.start_time + 1, ..alive };
        registry.enter(&standing("here", alive)).expect("writable");
        registry.enter(&standing("gone", dead)).expect("writable");
        assert_eq!(registry.list().expect("readable").len(), 2);
        let swept = registry.sweep().expect("removable");
        assert_eq!(swept.iter().map(|lab| lab.name.as_str()).collect::<Vec<_>>(), ["gone"]);
        assert_eq!(registry.find(None).expect("one lab").name, "here");
        let error = registry.find(Some("gone")).expect_err("swept").to_string();
        assert!(error.contains("here"), "{error}");
    }
}
