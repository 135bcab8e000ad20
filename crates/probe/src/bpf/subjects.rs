//! Fills the maps from which subjects.h determines a task's subject.

use super::{BpfObject, failed};
use crate::observe::ProbeError;
use protocol::Subject;

const PLACES: &str = ".data.places";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Subjects {
    processes: Vec<(u32, u32)>,
    namespaces: Vec<(u32, u32)>,
    cgroups: Vec<(u64, u32)>,
}

impl Subjects {
    pub(crate) fn of<'a>(numbered: impl IntoIterator<Item = (u32, &'a Subject)>) -> Self {
        let mut subjects = Self::default();
        for (number, subject) in numbered {
            subjects.processes.extend(subject.pids.iter().map(|pid| (*pid, number)));
            // Namespace inodes have 32 bits in the kernel.
            let namespaces = subject.namespaces.iter().filter_map(|inode| u32::try_from(*inode).ok());
            subjects.namespaces.extend(namespaces.map(|inode| (inode, number)));
            subjects.cgroups.extend(subject.cgroups.iter().map(|inode| (*inode, number)));
        }
        subjects
    }

    pub(crate) fn pids(&self) -> impl Iterator<Item = u32> {
        self.processes.iter().map(|(pid, _)| *pid)
    }
}

impl BpfObject {
    pub(crate) fn set_subjects(&mut self, subjects: &Subjects) -> Result<(), ProbeError> {
        self.replace("processes", &subjects.processes)?;
        self.replace("namespaces", &subjects.namespaces)?;
        self.replace("cgroups", &subjects.cgroups)?;
        let by = [subjects.namespaces.is_empty(), subjects.cgroups.is_empty()].map(|none| u32::from(!none));
        let mut places = self.array::<[u32; 2]>(PLACES)?;
        places.set(0, by, 0).map_err(|error| failed("write", PLACES, &error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use samples::CpuConsumer;

    #[test]
    fn keys_of_a_subject_have_its_number() {
        let client = Subject {
            consumer: CpuConsumer::Client,
            pids: vec![7, 8],
            namespaces: vec![4_026_531_840, u64::MAX],
            cgroups: vec![u64::MAX],
            syscalls: true,
        };
        let server = Subject { pids: vec![9], namespaces: vec![], cgroups: vec![], ..client.clone() };
        let subjects = Subjects::of([(1, &client), (3, &server)]);
        assert_eq!(subjects.pids().collect::<Vec<_>>(), [7, 8, 9]);
        assert_eq!(subjects.processes, [(7, 1), (8, 1), (9, 3)]);
        assert_eq!(subjects.namespaces, [(4_026_531_840, 1)], "namespace inodes have 32 bits");
        assert_eq!(subjects.cgroups, [(u64::MAX, 1)]);
    }
}
