//! Finds kernel modules and their dependencies, in load order. See depmod(8), modules.dep(5).

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use super::error::GuestError;

pub(super) struct Modules {
    folder: PathBuf,
    loadable: BTreeMap<String, Vec<PathBuf>>,
    builtin: BTreeSet<String>,
}

impl Modules {
    pub(super) fn read(folder: &Path) -> Result<Self, GuestError> {
        let path = folder.join("modules.dep");
        let text = fs::read_to_string(&path).map_err(|source| GuestError::Read {
            what: "the list of kernel modules",
            path,
            source,
        })?;
        // Kernels without built-in modules lack this list.
        let builtin = fs::read_to_string(folder.join("modules.builtin")).unwrap_or_default();
        Ok(Self {
            folder: folder.to_owned(),
            loadable: text.lines().filter_map(entry).collect(),
            builtin: builtin.lines().map(|line| name(Path::new(line))).collect(),
        })
    }

    pub(super) fn has(&self, module: &str) -> bool {
        self.builtin.contains(module) || self.loadable.contains_key(module)
    }

    pub(super) fn in_order(&self, wanted: &[&str]) -> Result<Vec<PathBuf>, GuestError> {
        let mut order: Vec<PathBuf> = Vec::new();
        for module in wanted.iter().filter(|module| !self.builtin.contains(**module)) {
            let files = self.loadable.get(*module).ok_or_else(|| GuestError::NoModule {
                module: (*module).to_owned(),
                folder: self.folder.clone(),
            })?;
            for file in files.iter().rev().map(|file| self.folder.join(file)) {
                if !order.contains(&file) {
                    order.push(file);
                }
            }
        }
        Ok(order)
    }
}

fn entry(line: &str) -> Option<(String, Vec<PathBuf>)> {
    let (file, needed) = line.split_once(':')?;
    let files = std::iter::once(file).chain(needed.split_whitespace());
    Some((name(Path::new(file)), files.map(PathBuf::from).collect()))
}

/// The kernel does not distinguish `-` and `_` in module names.
fn name(file: &Path) -> String {
    let file = file.file_name().unwrap_or_default().to_string_lossy();
    file.split('.').next().unwrap_or_default().replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_modules_after_their_dependencies() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let dep = "k/virtio_net.ko: k/net_failover.ko k/failover.ko k/virtio.ko k/virtio_ring.ko\n\
                   k/virtio-console.ko.xz: k/virtio.ko k/virtio_ring.ko\n\
                   k/virtio_ring.ko:\n";
        fs::write(folder.path().join("modules.dep"), dep).expect("writable");
        fs::write(folder.path().join("modules.builtin"), "kernel/net/vsock.ko\n").expect("writable");
        let modules = Modules::read(folder.path()).expect("just written");
        let has = ["virtio_ring", "vsock", "virtio_mmio"].map(|module| modules.has(module));
        assert_eq!(has, [true, true, false]);
        let order = modules.in_order(&["virtio_net", "vsock", "virtio_console"]).expect("installed");
        let names: Vec<_> = order.iter().map(|file| name(file)).collect();
        let expected = ["virtio_ring", "virtio", "failover", "net_failover", "virtio_net", "virtio_console"];
        assert_eq!(names, expected);
        let error = modules.in_order(&["virtio_mmio"]).expect_err("not there").to_string();
        assert!(error.contains("no module `virtio_mmio`"), "{error}");
    }
}
