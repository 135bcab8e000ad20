//! Checks whether sockets accept the congestion control that scenarios request.

use std::io;
use std::net::TcpListener;

use samples::Environment;
use sys::netns::NetNs;

use super::{Area, Capability, Subject};

const CUBIC: Subject = Subject {
    id: "cubic",
    title: "congestion control",
    needed_for: "comparing TCP results between machines: workloads request cubic",
    area: Area::Machine,
    required: true,
};

const WANTED: &str = "cubic";

pub(super) fn probe(environment: &Environment) -> Capability {
    let default = environment.congestion_default.as_deref().unwrap_or("unknown");
    judge(try_set(), default, &environment.congestion_available.join(", "))
}

fn try_set() -> io::Result<()> {
    match NetNs::create("the congestion control probe") {
        Ok(scratch) => scratch.run_in(set_on_a_socket)?,
        Err(_) => set_on_a_socket(),
    }
}

fn set_on_a_socket() -> io::Result<()> {
    let socket = TcpListener::bind("0.0.0.0:0")?;
    Ok(sys::socket::set_congestion(&socket, WANTED)?)
}

fn judge(tried: io::Result<()>, default: &str, available: &str) -> Capability {
    if let Err(error) = tried {
        let remedy = match error.kind() {
            io::ErrorKind::PermissionDenied => "sudo plumb …: in its own lab plumb may choose any algorithm",
            _ => "modprobe tcp_cubic (CONFIG_TCP_CONG_CUBIC)",
        };
        return CUBIC.missing(format!("{error} (available: {available})"), remedy);
    }
    let note = match default {
        WANTED => "which is also the default".to_owned(),
        other => format!("the default here is {other}, so labs set {WANTED} on every socket"),
    };
    CUBIC.works(format!("{WANTED} can be set, {note} (available: {available})"))
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    #[test]
    fn notes_another_default_algorithm() {
        let found = judge(Ok(()), "bbr", "reno, bbr, cubic");
        assert_eq!(found.state, State::Works);
        assert!(found.detail.contains("default here is bbr"), "{}", found.detail);
    }

    #[test]
    fn rejected_algorithm_is_missing_with_remedy() {
        for (kind, remedy) in
            [(io::ErrorKind::NotFound, "CONFIG_TCP_CONG_CUBIC"), (io::ErrorKind::PermissionDenied, "sudo")]
        {
            let found = judge(Err(kind.into()), "reno", "reno");
            assert_eq!(found.state, State::Missing);
            assert!(found.remedy.expect("one").contains(remedy), "{kind}");
        }
    }
}
