//! Which cells cannot be measured because the kernel lacks something that their path needs.

use samples::Skipped;
use scenario::{Cell, Lab, Path};
use topology::Missing;

/// What is lacking for a lab.
pub(crate) struct Lacks<'a> {
    lab: &'a Lab,
    missing: &'a [Missing],
    vhost: Option<String>,
}

impl<'a> Lacks<'a> {
    /// What `lab` lacks here, beside what was `missing` when it was raised.
    pub(crate) fn of(lab: &'a Lab, missing: &'a [Missing]) -> Self {
        let wanted = lab.hosts.iter().any(|host| host.vm.is_some_and(|vm| vm.vhost));
        let vhost = if wanted { machine::Nic::lacks_vhost() } else { None };
        Self { lab, missing, vhost }
    }

    /// Why nothing can be measured on `path`, if so.
    pub(crate) fn of_path(&self, path: &Path) -> Option<String> {
        let hit = self
            .missing
            .iter()
            .find(|missing| missing.devices.iter().any(|device| path.devices.contains(device)));
        hit.map(ToString::to_string).or_else(|| self.of_ends(path))
    }

    /// Why `cell` on `path` cannot be measured, if it cannot.
    pub(crate) fn of_cell(&self, cell: &Cell, path: &Path) -> Option<Skipped> {
        Some(Skipped { cell: cell.id.to_string(), because: self.of_path(path)? })
    }

    fn of_ends(&self, path: &Path) -> Option<String> {
        let because = self.vhost.as_ref()?;
        let vhost = |host: &&scenario::HostName| self.lab.vm(host).is_some_and(|vm| vm.vhost);
        let guest = [&path.from.host, &path.to.host].into_iter().find(vhost)?;
        Some(format!(
            "virtual machine `{guest}` has `vhost = \"on\"`, and vhost-net does not work: {because}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use scenario::{Scenario, builtin};

    use super::*;

    #[test]
    fn only_paths_that_end_in_a_guest_with_vhost_need_it() {
        let text = builtin::find("bridge-multiqueue").expect("shipped").text;
        let of = |text: &str| {
            let scenario = Scenario::parse("test", text).expect("parses");
            let lacks = Lacks { lab: &scenario.lab, missing: &[], vhost: Some("it is not there".to_owned()) };
            lacks.of_path(&scenario.paths[0])
        };
        assert_eq!(of(text), None);
        let because = of(&text.replace("vcpus = 2", "vcpus = 2\nvhost = \"on\"")).expect("its ends want it");
        assert!(because.contains("`client`") && because.ends_with("it is not there"), "{because}");
    }
}
