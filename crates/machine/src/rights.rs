//! The privileges that labs require: either root or a user namespace.

use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rights {
    Root,
    UserNamespace,
}

impl Rights {
    /// The process must be single-threaded. If user namespaces are forbidden, the error names the setting.
    pub fn acquire() -> Result<Self, sys::Error> {
        if sys::userns::has_net_admin() {
            return Ok(if sys::userns::is_nested() { Self::UserNamespace } else { Self::Root });
        }
        sys::userns::enter_as_root()?;
        Ok(Self::UserNamespace)
    }
}

#[derive(Debug, Serialize)]
pub struct CapabilityUse {
    pub capabilities: &'static [&'static str],
    /// A capability that replaces all of `capabilities`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub or: Option<&'static str>,
    pub used_for: &'static str,
    pub without: &'static str,
}

/// The use of each capability, found by dropping all others. The `rights` test of tests/cli checks the first
/// and third entries.
pub const CAPABILITY_USES: &[CapabilityUse] = &[
    CapabilityUse {
        capabilities: &["CAP_SYS_ADMIN", "CAP_NET_ADMIN"],
        or: None,
        used_for: "labs: namespaces, their devices, addresses, routes and rules",
        without: "labs in a user namespace, if the kernel allows unprivileged ones",
    },
    CapabilityUse {
        capabilities: &["CAP_BPF", "CAP_PERFMON"],
        or: Some("CAP_SYS_ADMIN"),
        used_for: "eBPF probes in runs and in `plumb trace`: system calls, packet latency by hop, exact CPU time",
        without: "CPU time in ticks; system calls by `plumb trace --fallback ptrace`",
    },
    CapabilityUse {
        capabilities: &["CAP_SETUID", "CAP_SETGID"],
        or: None,
        used_for: "switching to an unprivileged user if started as root: `plumb server`, QEMU",
        without: "neither starts as root; if another user starts them, they keep running as that user",
    },
    CapabilityUse {
        capabilities: &["CAP_SYS_PTRACE"],
        or: None,
        used_for: "`plumb trace --fallback ptrace` of other users' processes",
        without: "processes of the same user",
    },
    CapabilityUse {
        capabilities: &["CAP_NET_BIND_SERVICE"],
        or: None,
        used_for: "`plumb server` on a port below 1024",
        without: "ports 1024 and above",
    },
];

impl CapabilityUse {
    #[must_use]
    pub fn is_held(&self) -> bool {
        let or = self.or.is_some_and(|or| sys::userns::has_capabilities(&[or]));
        !sys::userns::is_nested() && (or || sys::userns::has_capabilities(self.capabilities))
    }
}
