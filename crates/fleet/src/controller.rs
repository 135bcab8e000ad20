//! The controller side of a fleet: lists members, and starts agents through them.

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, Instant},
};

use parking_lot::Mutex;

use crate::{
    connection::{Answer, Connection, LogLine},
    dial::ServerAccess,
    error::FleetError,
    message::{MemberInfo, OrderReply, VERSION, drawn},
    order::{Order, StartOrder, Task},
    seal::{Opener, Seal},
    stream::{Session, StreamReader, StreamWriter},
    subject,
    wire::printable,
};

pub(crate) const ROLL: [Duration; 2] = [Duration::from_secs(2), Duration::from_millis(400)];
const FRESH: Duration = Duration::from_secs(5);
const MOST_SHOWN: usize = 100;

#[derive(Debug)]
pub struct Controller {
    connection: Arc<Connection>,
    access: Arc<ServerAccess>,
    seen: Mutex<Option<(Instant, Vec<MemberInfo>)>>,
}

impl Controller {
    pub fn open(
        access: &Arc<ServerAccess>,
        stop: &Arc<AtomicBool>,
        log: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<Self, FleetError> {
        let log: LogLine = Arc::new(log);
        let connection = Arc::new(Connection::open(access, stop, &log)?);
        Ok(Self { connection, access: Arc::clone(access), seen: Mutex::default() })
    }

    pub fn members(&self) -> Result<Vec<MemberInfo>, FleetError> {
        members(&self.connection, &self.access.name)
    }

    pub fn start(
        &self,
        member: &str,
        run: &str,
    ) -> Result<(Session, StreamReader, StreamWriter), FleetError> {
        let session = drawn();
        let [to, from] = subject::session(member, &self.access.name, &session);
        let incoming = self.connection.subscribe(from)?;
        self.order(member, Task::Start(StartOrder { session, run: run.to_owned() }), &OrderReply::Started)?;
        let (access, subject) = (Arc::clone(&self.access), to.clone());
        let seals = (Seal::Signed { access, subject, number: 0 }, Opener::None);
        Session::begin(&self.connection, incoming, to, seals)
            .map_err(|error| refused(member, &format!("cannot start a thread for it: {error}")))
    }

    /// Stops a member from starting further agents, or undoes this. Fails if the member is missing or ambiguous, or
    /// if it refuses.
    pub fn drain(&self, member: &str, drain: bool) -> Result<(), FleetError> {
        self.order(member, Task::Drain(drain), &OrderReply::Done)
    }

    fn order(&self, member: &str, task: Task, expected: &OrderReply) -> Result<(), FleetError> {
        let server = || self.access.server.clone();
        let key = self.access.key.as_ref().ok_or_else(|| FleetError::Unsigned { server: server() })?;
        let (MemberInfo { instance, .. }, name, id) = (self.find(member)?, &self.access.name, drawn());
        let order = Order::new(name, [member, &instance, &id], task).sign(key);
        let answer = subject::answer(name, member, &id);
        match self.connection.ask(&subject::order(member, name), answer, &order)? {
            Answer::Message(reply) => match serde_json::from_slice(&reply) {
                Ok(reply) if reply == *expected => Ok(()),
                Ok(OrderReply::Refused { reason }) => Err(refused(member, &reason)),
                Ok(_) => Err(refused(member, "its reply does not match the order")),
                Err(error) => Err(refused(member, &error.to_string())),
            },
            Answer::Nobody | Answer::None => {
                Err(FleetError::Silent { name: member.to_owned(), reason: self.connection.complaint() })
            }
        }
    }

    fn find(&self, name: &str) -> Result<MemberInfo, FleetError> {
        let mut seen = self.seen.lock();
        let known = seen.as_ref().filter(|(at, _)| at.elapsed() < FRESH);
        let has = known.is_some_and(|(_, members)| members.iter().any(|member| member.name == name));
        if !has {
            *seen = Some((Instant::now(), self.members()?));
        }
        let members = seen.as_ref().map(|(_, members)| members.as_slice()).unwrap_or_default();
        one_of(members, name)
    }
}

fn refused(member: &str, reason: &str) -> FleetError {
    FleetError::Refused { name: member.to_owned(), reason: printable(reason) }
}

fn one_of(members: &[MemberInfo], name: &str) -> Result<MemberInfo, FleetError> {
    let called: Vec<&MemberInfo> = members.iter().filter(|member| member.name == name).collect();
    match called[..] {
        [member] if member.messages != VERSION => {
            let (tool, theirs) = (member.tool.clone(), member.messages);
            Err(FleetError::Version { name: name.to_owned(), tool, theirs })
        }
        [member] => Ok(member.clone()),
        [] => {
            let others = members.iter().map(|member| member.name.clone()).take(MOST_SHOWN).collect();
            Err(FleetError::Unknown { name: name.to_owned(), others })
        }
        _ => {
            let hosts = called.iter().map(|member| member.host.clone()).take(MOST_SHOWN).collect();
            Err(FleetError::Ambiguous { name: name.to_owned(), count: called.len(), hosts })
        }
    }
}

pub(crate) fn members(connection: &Arc<Connection>, user: &str) -> Result<Vec<MemberInfo>, FleetError> {
    let id = drawn();
    let subjects = [subject::answer(user, "*", &id), subject::answer(user, user, &id)];
    let answers = connection.ask_all(&subject::roll(user), subjects, id.as_bytes(), ROLL)?;
    let mut members: Vec<MemberInfo> = Vec::new();
    for (subject, answer) in answers {
        let Ok(member) = serde_json::from_slice::<MemberInfo>(&answer) else { continue };
        // The server's permissions guarantee only the name in the subject.
        if subject::is_name(&member.name)
            && member.name == subject::answering(&subject)
            && member.is_printable()
        {
            members.push(member);
        }
    }
    members.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(members)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requires_unique_member_of_this_version() {
        let member = |name: &str, host: &str, messages| MemberInfo {
            name: name.to_owned(),
            host: host.to_owned(),
            tool: "9.0.0".to_owned(),
            messages,
            since: 0,
            devices: Vec::new(),
            address: None,
            drained: false,
            sessions: 0,
            instance: drawn(),
        };
        let members =
            [member("a", "h1", 1), member("b", "h2", 1), member("b", "h3", 1), member("c", "h4", 2)];
        assert_eq!(one_of(&members, "a").expect("it is there").host, "h1");
        for (name, expected) in [
            ("b", "2 members are named `b`, on hosts h2, h3"),
            ("c", "plumb 9.0.0, which uses version 2"),
            ("d", "there is no member `d` (connected: a, b, b, c)"),
        ] {
            let error = one_of(&members, name).expect_err(expected).to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
