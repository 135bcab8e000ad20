//! One row of the doctor's table.

use probe::{Area, State};
use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Group {
    Paths,
    Machine,
    VirtualMachines,
    Memory,
}

impl Group {
    pub(super) const ALL: [Self; 4] = [Self::Paths, Self::Machine, Self::VirtualMachines, Self::Memory];

    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Paths => "Paths",
            Self::Machine => "Machine",
            Self::VirtualMachines => "Virtual machines",
            Self::Memory => "Memory of virtual machines",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Status {
    Works,
    Limited,
    Missing,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Check {
    pub(super) group: Group,
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) status: Status,
    pub(super) detail: String,
    pub(super) needed_for: &'static str,
    pub(super) remedy: Option<String>,
    pub(super) required: bool,
}

impl Check {
    pub(super) fn of_path(found: topology::Capability) -> Self {
        let topology::Capability { name, available, detail, needed_for, remedy, required } = found;
        Self {
            group: Group::Paths,
            id: name,
            title: name,
            status: if available { Status::Works } else { Status::Missing },
            detail,
            needed_for,
            remedy: (!available).then(|| remedy.to_owned()),
            required,
        }
    }

    pub(super) fn of_machine(found: probe::Capability) -> Self {
        let probe::Capability { id, title, needed_for, area, state, detail, remedy, required } = found;
        let group = match area {
            Area::Machine => Group::Machine,
            Area::VirtualMachines => Group::VirtualMachines,
        };
        let status = match state {
            State::Works => Status::Works,
            State::Limited => Status::Limited,
            State::Missing => Status::Missing,
        };
        Self { group, id, title, status, detail, needed_for, remedy, required }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_link_kind_names_kernel_option() {
        let tried = topology::probe().into_iter().find(|found| found.name == "vxlan").expect("it is tried");
        let found = |available| topology::Capability { available, ..tried.clone() };
        assert!(Check::of_path(found(false)).remedy.expect("one").contains("CONFIG_VXLAN"));
        assert_eq!(Check::of_path(found(true)).remedy, None);
    }
}
