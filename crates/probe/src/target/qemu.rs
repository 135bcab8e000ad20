//! QEMU virtual machines by name, PID, or Proxmox id.

use super::{TargetError, all, name, number};

/// QEMU's program names other than `qemu-system-...`. Debian and Proxmox use `kvm`.
const PROGRAMS: [&str; 2] = ["qemu-kvm", "kvm"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Qemu {
    pub pid: u32,
    pub process: String,
    pub guest: Option<String>,
    pub id: Option<String>,
}

pub fn qemu(named: &str) -> Result<Qemu, TargetError> {
    pick(named, qemus())
}

#[must_use]
pub fn qemus() -> Vec<Qemu> {
    let read = |process: procfs::process::Process| {
        let line = process.cmdline().ok()?;
        let (guest, id) = parse(&line)?;
        let name = name(&process)?;
        Some(Qemu { pid: number(&process)?, process: name, guest, id })
    };
    all().filter_map(read).collect()
}

fn pick(named: &str, running: Vec<Qemu>) -> Result<Qemu, TargetError> {
    let pid = named.parse::<u32>().ok();
    let ways: [&dyn Fn(&Qemu) -> bool; 3] =
        [&|qemu| Some(qemu.pid) == pid, &|qemu| qemu.guest.as_deref() == Some(named), &|qemu| {
            qemu.id.as_deref() == Some(named)
        }];
    for way in ways {
        let found: Vec<&Qemu> = running.iter().filter(|qemu| way(qemu)).collect();
        match found[..] {
            [] => {}
            [one] => return Ok(one.clone()),
            _ => {
                let pids = found.iter().map(|qemu| qemu.pid).collect();
                return Err(TargetError::SeveralQemus { named: named.to_owned(), pids });
            }
        }
    }
    let called = |qemu: Qemu| qemu.guest.unwrap_or_else(|| qemu.pid.to_string());
    Err(TargetError::NoQemu { named: named.to_owned(), running: running.into_iter().map(called).collect() })
}

fn parse(line: &[String]) -> Option<(Option<String>, Option<String>)> {
    let program = line.first()?.rsplit('/').next()?;
    if !program.starts_with("qemu-system-") && !PROGRAMS.contains(&program) {
        return None;
    }
    let value = |flag: &str| {
        let place =
            line.iter().position(|word| word.trim_start_matches('-') == flag && word.starts_with('-'))?;
        line.get(place + 1).cloned()
    };
    Some((value("name").map(|value| guest(&value)), value("id")))
}

/// Parses `-name vm1,debug-threads=on` and `-name guest=vm1,...`.
fn guest(value: &str) -> String {
    let parts = || value.split(',');
    let named = parts().find_map(|part| part.strip_prefix("guest="));
    named.or_else(|| parts().next()).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_guest_from_command_line() {
        for (line, found) in [
            ("/usr/bin/kvm -id 100 -name web,debug-threads=on -smp 2", Some((Some("web"), Some("100")))),
            ("qemu-system-x86_64 -name guest=vm1,process=x -m 1G", Some((Some("vm1"), None))),
            ("/usr/bin/qemu-system-aarch64 -M virt", Some((None, None))),
            ("/usr/bin/qemu-img convert a b", None),
            ("vim -name kvm", None),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let found = found.map(|(name, id)| (name.map(str::to_owned), id.map(str::to_owned)));
            assert_eq!(parse(&words), found, "{line}");
        }
    }

    #[test]
    fn picks_by_pid_name_or_id_and_rejects_ambiguity() {
        let made = |pid, guest: &str, id: &str| {
            let (guest, id) = (Some(guest.to_owned()), Some(id.to_owned()));
            Qemu { pid, process: "kvm".into(), guest, id }
        };
        let running = vec![made(10, "web", "100"), made(11, "db", "101"), made(12, "db", "102")];
        for (named, pid) in
            [("10", Some(10)), ("web", Some(10)), ("102", Some(12)), ("db", None), ("x", None)]
        {
            let found = pick(named, running.clone()).ok().map(|qemu| qemu.pid);
            assert_eq!(found, pid, "{named}");
        }
        let several = TargetError::SeveralQemus { named: "db".into(), pids: vec![11, 12] };
        assert_eq!(pick("db", running), Err(several));
    }
}
