//! Checks which methods can move VM memory on this machine, and which sources can show VMs' memory accesses.

use std::{fs, path::Path};

use machine::Kernel;

use super::check::{Check, Group, Status};

const MOVES: &str = "moving memory between virtual machines";
const SEES: &str = "tracking memory accesses";
const ACCESSED_BITS: &str = "/proc/self/clear_refs";
const NEWER: &str = "in the guest: apt-get install linux-image-6.12-cloud-amd64 (Debian 12), or Debian 13";

const USES: [(&str, &str); 8] = [
    ("CONFIG_DEBUG_INFO_BTF", "BTF, required by probes in a guest"),
    ("CONFIG_TUN", "tap devices"),
    ("CONFIG_VHOST_NET", "vhost-net"),
    ("CONFIG_VIRTIO_BALLOON", "virtio-balloon"),
    ("CONFIG_VIRTIO_MEM", "virtio-mem"),
    ("CONFIG_HUGETLBFS", "huge pages"),
    ("CONFIG_DAMON_PADDR", "DAMON"),
    ("CONFIG_LRU_GEN", "page generations"),
];

/// The configuration of the kernel that plumb boots in guests. Other guests may differ.
struct GuestKernel {
    release: String,
    config: String,
}

pub(super) fn checks() -> Vec<Check> {
    let kernel =
        Kernel::installed().map_err(|error| error.to_string()).and_then(|kernel| GuestKernel::of(&kernel));
    let freed = ::memory::frees_behind_guests().map_err(|error| error.to_string());
    let bits = fs::metadata(ACCESSED_BITS).map(drop).map_err(|error| error.to_string());
    let mut checks = of_guests(&kernel);
    checks.insert(2, agents_balloon(&kernel, freed));
    checks.push(accessed_bits(bits));
    checks
}

pub(super) fn missing_features(kernel: &Kernel) -> String {
    match GuestKernel::of(kernel) {
        Ok(kernel) => kernel.missing_features(),
        Err(reason) => reason,
    }
}

impl GuestKernel {
    fn missing_features(&self) -> String {
        let lacking = USES.into_iter().filter(|(option, _)| !self.has(option));
        let names: Vec<&str> = lacking.map(|(_, name)| name).collect();
        if names.is_empty() {
            "no missing features".to_owned()
        } else {
            format!("missing: {}", names.join("; "))
        }
    }

    fn of(kernel: &Kernel) -> Result<Self, String> {
        let release = kernel.release().to_owned();
        let path = kernel.image.with_file_name(format!("config-{release}"));
        Self::read(&path, release)
    }

    fn read(path: &Path, release: String) -> Result<Self, String> {
        let config = fs::read_to_string(path);
        let config = config.map_err(|error| {
            format!("unknown guest kernel configuration: cannot read {}: {error}", path.display())
        })?;
        Ok(Self { release, config })
    }

    fn has(&self, option: &str) -> bool {
        let set = |line: &str| line.strip_prefix(option).is_some_and(|value| matches!(value, "=y" | "=m"));
        self.config.lines().any(set)
    }
}

fn of_guests(kernel: &Result<GuestKernel, String>) -> Vec<Check> {
    let driver = |id, title, option: &str| {
        let found = kernel.as_ref().map(|kernel| (kernel.has(option), kernel.release.as_str()));
        let (status, detail) = match found {
            Ok((true, release)) => (Status::Works, format!("the guest kernel {release} has the driver")),
            Ok((false, release)) => (Status::Missing, format!("the guest kernel {release} has no driver")),
            Err(reason) => (Status::Missing, reason.clone()),
        };
        let remedy = (status == Status::Missing).then(|| format!("a kernel with {option}"));
        check(id, title, (status, detail, remedy), MOVES)
    };
    vec![
        driver("virtio-balloon", "virtio-balloon", "CONFIG_VIRTIO_BALLOON"),
        driver("virtio-mem", "virtio-mem", "CONFIG_VIRTIO_MEM"),
        check("damon", "DAMON", damon(kernel), SEES),
        check("page-generations", "page generations", generations(kernel), SEES),
    ]
}

type Found = (Status, String, Option<String>);

fn damon(kernel: &Result<GuestKernel, String>) -> Found {
    match kernel {
        Ok(kernel)
            if ["CONFIG_DAMON_PADDR", "CONFIG_DAMON_SYSFS"].iter().all(|option| kernel.has(option)) =>
        {
            (Status::Works, format!("the guest kernel {} counts accesses", kernel.release), None)
        }
        Ok(kernel) => (
            Status::Missing,
            format!("the guest kernel {} lacks CONFIG_DAMON_PADDR or CONFIG_DAMON_SYSFS", kernel.release),
            Some(NEWER.to_owned()),
        ),
        Err(reason) => (Status::Missing, reason.clone(), Some(NEWER.to_owned())),
    }
}

fn generations(kernel: &Result<GuestKernel, String>) -> Found {
    match kernel {
        Ok(kernel) if kernel.has("CONFIG_LRU_GEN_ENABLED") => {
            (Status::Works, format!("enabled in the guest kernel {} (MGLRU)", kernel.release), None)
        }
        Ok(kernel) if kernel.has("CONFIG_LRU_GEN") => (
            Status::Limited,
            format!("disabled in the guest kernel {} (MGLRU)", kernel.release),
            Some("in the guest: echo y > /sys/kernel/mm/lru_gen/enabled, or `source = \"mglru\"`".to_owned()),
        ),
        Ok(kernel) => (
            Status::Missing,
            format!("the guest kernel {} lacks CONFIG_LRU_GEN", kernel.release),
            Some(NEWER.to_owned()),
        ),
        Err(reason) => (Status::Missing, reason.clone(), Some(NEWER.to_owned())),
    }
}

fn agents_balloon(kernel: &Result<GuestKernel, String>, freed: Result<(), String>) -> Check {
    let has_pages = kernel.as_ref().map(|kernel| kernel.has("CONFIG_HUGETLBFS"));
    let found = match (freed, has_pages) {
        (Err(reason), _) => {
            (Status::Missing, reason, Some("a kernel with memfd (CONFIG_MEMFD_CREATE)".to_owned()))
        }
        (_, Err(reason)) => (Status::Missing, reason.clone(), None),
        (Ok(()), Ok(false)) => {
            let remedy = "a kernel with CONFIG_HUGETLBFS".to_owned();
            (Status::Missing, "the guest kernel has no huge pages".to_owned(), Some(remedy))
        }
        (Ok(()), Ok(true)) => {
            let detail = "this kernel can free parts of a memfd; guest memory must be in a memfd, without \
                VFIO";
            (Status::Works, detail.to_owned(), None)
        }
    };
    check("agent-balloon", "agent's balloon", found, MOVES)
}

fn accessed_bits(found: Result<(), String>) -> Check {
    let found = match found {
        Ok(()) => (
            Status::Works,
            "of the QEMU process; accurate for emulated guests, not with KVM".to_owned(),
            None,
        ),
        Err(reason) => (
            Status::Missing,
            format!("{ACCESSED_BITS}: {reason}"),
            Some("a kernel with CONFIG_PROC_PAGE_MONITOR".to_owned()),
        ),
    };
    check("accessed-bits", "accessed bits", found, SEES)
}

fn check(
    id: &'static str,
    title: &'static str,
    (status, detail, remedy): Found,
    needed_for: &'static str,
) -> Check {
    Check { group: Group::Memory, id, title, status, detail, needed_for, remedy, required: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statuses(config: &str) -> Vec<Status> {
        let kernel = Ok(GuestKernel { release: "6.1".to_owned(), config: config.to_owned() });
        of_guests(&kernel).into_iter().map(|check| check.status).collect()
    }

    #[test]
    fn kernel_config_decides_checks_and_missing_options_have_remedies() {
        use Status::{Limited, Missing, Works};
        assert_eq!(statuses(""), [Missing; 4]);
        let debian_12 = "CONFIG_VIRTIO_BALLOON=m\nCONFIG_VIRTIO_MEM=m\nCONFIG_LRU_GEN=y\n# CONFIG_LRU_GEN_ENABLED is not set\n";
        assert_eq!(statuses(debian_12), [Works, Works, Missing, Limited]);
        let debian_13 = "CONFIG_VIRTIO_BALLOON=m\nCONFIG_DAMON_PADDR=y\nCONFIG_DAMON_SYSFS=y\nCONFIG_LRU_GEN=y\nCONFIG_LRU_GEN_ENABLED=y\n";
        assert_eq!(statuses(debian_13), [Works, Missing, Works, Works]);
        for check in of_guests(&Err("no kernel".to_owned())) {
            assert!(check.remedy.is_some() && check.detail == "no kernel", "{check:?}");
        }
    }

    #[test]
    fn lists_missing_kernel_features() {
        let missing_features = |config: &str| {
            GuestKernel { release: "6.1".to_owned(), config: config.to_owned() }.missing_features()
        };
        let all: String = USES.iter().map(|(option, _)| format!("{option}=y\n")).collect();
        assert_eq!(missing_features(&all), "no missing features");
        assert_eq!(missing_features(&all.replace("CONFIG_DAMON_PADDR=y", "")), "missing: DAMON");
        assert_eq!(missing_features("").matches(';').count(), USES.len() - 1);
    }

    #[test]
    fn agent_balloon_needs_both_kernels() {
        let kernel = |config: &str| Ok(GuestKernel { release: "6.1".to_owned(), config: config.to_owned() });
        let status = |kernel, freed| agents_balloon(&kernel, freed).status;
        assert_eq!(status(kernel("CONFIG_HUGETLBFS=y"), Ok(())), Status::Works);
        assert_eq!(status(kernel(""), Ok(())), Status::Missing);
        assert_eq!(status(kernel("CONFIG_HUGETLBFS=y"), Err("ENOSYS".to_owned())), Status::Missing);
    }
}
