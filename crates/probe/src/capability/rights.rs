//! Checks whether this process may create namespaces and devices.

use super::{Area, Capability, Subject};

const RIGHTS: Subject = Subject {
    id: "rights",
    title: "rights",
    needed_for: "creating any lab",
    area: Area::Machine,
    required: true,
};

pub(super) fn probe() -> Capability {
    judge(sys::userns::has_net_admin(), sys::userns::is_nested())
}

fn judge(may: bool, nested: bool) -> Capability {
    match (may, nested) {
        (true, false) => RIGHTS.works("root, or its capabilities (CAP_NET_ADMIN and CAP_SYS_ADMIN)"),
        (true, true) => RIGHTS.limited(
            "root of a user namespace: sufficient for labs of namespaces, but not for eBPF or the devices \
                 of the host",
            "sudo plumb …, if you need these",
        ),
        (false, _) => RIGHTS.missing(
            "neither CAP_NET_ADMIN and CAP_SYS_ADMIN nor permission to create a user namespace",
            "sudo plumb …; or allow user namespaces: sysctl user.max_user_namespaces=10000",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    #[test]
    fn judges_permissions_by_scope() {
        for (may, nested, state) in [
            (true, false, State::Works),
            (true, true, State::Limited),
            (false, false, State::Missing),
            (false, true, State::Missing),
        ] {
            assert_eq!(judge(may, nested).state, state, "{may} {nested}");
        }
    }
}
