//! The rights that a lab needs: root's, or those of a user namespace of our own. And what is done with each capability.

use serde::Serialize;

/// Whose rights this process has over the namespaces it makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rights {
    /// Root of the machine, or its capabilities.
    Root,
    /// Root of a user namespace: what reaches beyond a lab's own namespaces is missing.
    UserNamespace,
}

impl Rights {
    /// Takes the rights that a lab needs. Must be called while the process has one thread.
    ///
    /// # Errors
    /// When this process has none and the host forbids user namespaces; the error names the setting.
    pub fn acquire() -> Result<Self, sys::Error> {
        if sys::userns::has_net_admin() {
            return Ok(if sys::userns::is_nested() { Self::UserNamespace } else { Self::Root });
        }
        sys::userns::enter_as_root()?;
        Ok(Self::UserNamespace)
    }
}

/// What capabilities are used for.
#[derive(Debug, Serialize)]
pub struct CapabilityUse {
    /// All are needed.
    pub capabilities: &'static [&'static str],
    /// One that stands for all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub or: Option<&'static str>,
    pub used_for: &'static str,
    /// What is left without them.
    pub without: &'static str,
}

/// Those of labs, probes, traces and servers, found by dropping all others; tests/cli `rights` holds the first and the third.
pub const CAPABILITY_USES: &[CapabilityUse] = &[
    CapabilityUse {
        capabilities: &["CAP_SYS_ADMIN", "CAP_NET_ADMIN"],
        or: None,
        used_for: "labs: namespaces, their devices, addresses, routes and rules",
        without: "labs in a user namespace of their own, where the kernel lets any user make one",
    },
    CapabilityUse {
        capabilities: &["CAP_BPF", "CAP_PERFMON"],
        or: Some("CAP_SYS_ADMIN"),
        used_for: "eBPF probes of runs and of `plumb trace`: system calls, a packet's way, exact CPU time",
        without: "CPU time in ticks; system calls by `plumb trace --fallback ptrace`",
    },
    CapabilityUse {
        capabilities: &["CAP_SETUID", "CAP_SETGID"],
        or: None,
        used_for: "becoming a user without rights, started as root: `plumb server`, QEMU",
        without: "as root neither starts; started by another user each stays that user",
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
        used_for: "`plumb server` at a port below 1024",
        without: "ports from 1024 on",
    },
];

impl CapabilityUse {
    /// Whether this process holds them, or what stands for them, over the machine and not in a user namespace alone.
    #[must_use]
    pub fn is_held(&self) -> bool {
        let or = self.or.is_some_and(|or| sys::userns::has_capabilities(&[or]));
        !sys::userns::is_nested() && (or || sys::userns::has_capabilities(self.capabilities))
    }
}
