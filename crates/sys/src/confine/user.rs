//! The user and the capabilities of a process.
#![expect(clippy::disallowed_methods, reason = "reads /etc/passwd and /proc")]

use std::{fmt, fs, os::unix::fs::MetadataExt, path::Path};

use rustix::{
    process::{Gid, Uid, geteuid},
    thread::{
        CapabilitySet, CapabilitySets, remove_capability_from_bounding_set, set_capabilities,
        set_thread_groups, set_thread_res_gid, set_thread_res_uid,
    },
};

use crate::error::{Context, Error, Result};

const USERS: &str = "/etc/passwd";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    name: String,
    uid: u32,
    gid: u32,
}

impl User {
    #[must_use]
    pub fn nobody() -> Self {
        Self { name: "nobody".to_owned(), uid: 65_534, gid: 65_534 }
    }

    /// Returns a user in the range 60578 to 61183, which systemd and distributions leave unassigned (systemd,
    /// docs/UIDS-GIDS.md).
    #[must_use]
    pub fn unassigned(number: u32) -> Self {
        const FIRST: u32 = 60_578;
        const LAST: u32 = 61_183;
        let id = FIRST + number % (LAST - FIRST + 1);
        Self { name: id.to_string(), uid: id, gid: id }
    }

    pub fn named(name: &str) -> Result<Self> {
        if let Ok(uid) = name.parse() {
            return Ok(Self { name: name.to_owned(), uid, gid: uid });
        }
        let users = fs::read_to_string(USERS).named("read", || USERS)?;
        users.lines().find_map(|line| Self::of_line(line, name)).ok_or_else(|| {
            Error::new("find", format!("user {name}"), libc::ENOENT)
                .with_hint(format!("it is not in {USERS}"))
        })
    }

    #[must_use]
    pub const fn uid(&self) -> u32 {
        self.uid
    }

    fn of_line(line: &str, name: &str) -> Option<Self> {
        let mut fields = line.split(':');
        let is_it = fields.next() == Some(name);
        let (uid, gid) = (fields.nth(1)?.parse().ok()?, fields.next()?.parse().ok()?);
        is_it.then(|| Self { name: name.to_owned(), uid, gid })
    }
}

impl fmt::Display for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

#[must_use]
pub fn is_root() -> bool {
    geteuid().is_root()
}

/// A process cannot become an unmapped user.
pub fn is_mapped(user: &User) -> Result<bool> {
    let has = |path: &str, id: u32| {
        let map = fs::read_to_string(path).named("read", || path)?;
        Ok(map.lines().any(|line| {
            let mut numbers = line.split_whitespace().filter_map(|number| number.parse::<u64>().ok());
            let (first, count) = (numbers.next(), numbers.nth(1));
            first.zip(count).is_some_and(|(first, count)| (first..first + count).contains(&id.into()))
        }))
    };
    Ok(has("/proc/self/uid_map", user.uid)? && has("/proc/self/gid_map", user.gid)?)
}

/// Switches to the user and the user's primary group. Switching from root drops all capabilities.
pub fn become_user(user: &User) -> Result<()> {
    change_user(user, &[]).named("become", || format!("user {user}"))
}

pub(crate) fn change_user(user: &User, groups: &[Gid]) -> rustix::io::Result<()> {
    let (uid, gid) = (Uid::from_raw(user.uid), Gid::from_raw(user.gid));
    set_thread_groups(groups)?;
    set_thread_res_gid(gid, gid, gid)?;
    set_thread_res_uid(uid, uid, uid)
}

pub(crate) fn groups(numbers: &[u32]) -> Vec<Gid> {
    numbers.iter().copied().map(Gid::from_raw).collect()
}

/// Returns the groups that a user needs to read and write the files, or `None` if only their owners can.
pub fn groups_that_open(files: &[&Path]) -> Result<Option<Vec<u32>>> {
    let (mut groups, both) = (Vec::new(), 0o6);
    for file in files {
        let about = fs::metadata(file).named("look at", || file.display().to_string())?;
        match about.mode() {
            mode if mode & both == both => {}
            mode if mode >> 3 & both == both => groups.push(about.gid()),
            _ => return Ok(None),
        }
    }
    Ok(Some(groups))
}

/// Call this before [`become_user`], which drops the required capability.
pub fn drop_bounds() {
    for capability in CapabilitySet::all() {
        // Ignore errors: the process may lack CAP_SETPCAP, and older kernels lack some capabilities.
        let _ = remove_capability_from_bounding_set(capability);
    }
}

pub fn keep_capabilities(low_ports: bool) -> Result<()> {
    let none = CapabilitySet::empty();
    let remaining = if low_ports { CapabilitySet::NET_BIND_SERVICE } else { none };
    let sets = CapabilitySets { effective: remaining, permitted: remaining, inheritable: none };
    set_capabilities(None, sets).named("give up", || "capabilities")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_user_by_name_or_number() {
        assert_eq!(User::named("1234").expect("a number").uid(), 1234);
        assert_eq!(User::named("root").expect("everywhere").uid(), 0);
        let error = User::named("no-such-user").expect_err("unknown user").to_string();
        assert!(error.contains("no-such-user") && error.contains("/etc/passwd"), "{error}");
        let line = "plumb:x:993:992::/nonexistent:/usr/sbin/nologin";
        let found = User { name: "plumb".to_owned(), uid: 993, gid: 992 };
        assert_eq!(User::of_line(line, "plumb"), Some(found));
        for (line, name) in [(line, "plum"), ("plumb:x:a:b", "plumb"), ("plumb", "plumb"), ("", "")] {
            assert_eq!(User::of_line(line, name), None, "{line}");
        }
    }

    #[test]
    fn unassigned_users_are_distinct_and_not_nobody() {
        let users: std::collections::BTreeSet<u32> =
            (0..606).map(|number| User::unassigned(number).uid()).collect();
        assert_eq!((users.len(), users.first(), users.last()), (606, Some(&60_578), Some(&61_183)));
        assert_ne!(User::unassigned(u32::MAX), User::unassigned(0));
        assert!(!users.contains(&User::nobody().uid()));
    }

    #[test]
    fn finds_groups_that_can_open_files() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = |name: &str, mode| {
            let path = folder.path().join(name);
            fs::write(&path, "").expect("own folder");
            let permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
            fs::set_permissions(&path, permissions).expect("own file");
            path
        };
        let (all, group, own) = (file("all", 0o666), file("group", 0o660), file("own", 0o644));
        let gid = fs::metadata(&group).expect("exists").gid();
        let open = |files: &[&Path]| groups_that_open(files).expect("exist");
        assert_eq!(open(&[&all]), Some(vec![]));
        assert_eq!(open(&[&all, &group]), Some(vec![gid]));
        assert_eq!(open(&[&group, &own]), None);
        assert!(groups_that_open(&[Path::new("/nonexistent")]).is_err());
    }

    #[test]
    fn root_is_mapped_wherever_root_is() {
        let root = User::named("0").expect("a number");
        assert!(!is_root() || is_mapped(&root).expect("procfs"));
    }
}
