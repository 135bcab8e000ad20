//! The controller's side of a fleet: who is there, and agents that members start. Must not know what is measured.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use crate::{
    connection::{Answer, Connection, ServerAccess, Tell},
    error::FleetError,
    message::{DrainOrder, MemberInfo, OrderReply, StartOrder, VERSION, drawn},
    stream::{Session, StreamReader, StreamWriter},
    subject,
};

/// How long the first member may take to say that it is there, and each further one after that.
pub(crate) const ROLL: [Duration; 2] = [Duration::from_secs(2), Duration::from_millis(400)];
/// Who is there is asked again after this.
const FRESH: Duration = Duration::from_secs(5);

/// Of an answer to another question.
const NOT_ASKED: &str = "it answered something that it was not asked";

/// A fleet as a controller sees it.
#[derive(Debug)]
pub struct Controller {
    connection: Arc<Connection>,
    name: String,
    seen: Mutex<Option<(Instant, Vec<MemberInfo>)>>,
}

impl Controller {
    /// Connects to the server; `tell` hears when it is away later on, and back.
    ///
    /// # Errors
    /// When the server is not reached, or does not let this user in.
    pub fn open(
        access: &ServerAccess,
        tell: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<Self, FleetError> {
        let tell: Tell = Arc::new(tell);
        let connection = Arc::new(Connection::open(access, &tell)?);
        Ok(Self { connection, name: access.name.clone(), seen: Mutex::default() })
    }

    /// The members that are there, by their names.
    ///
    /// # Errors
    /// When the connection breaks.
    pub fn members(&self) -> Result<Vec<MemberInfo>, FleetError> {
        members(&self.connection, &self.name)
    }

    /// Has a member start an agent for a run: the session's streams are its standard output and input.
    ///
    /// # Errors
    /// When there is no such member, or more than one, or it refuses.
    pub fn start(
        &self,
        member: &str,
        run: &str,
    ) -> Result<(Session, StreamReader, StreamWriter), FleetError> {
        let MemberInfo { instance, .. } = self.find(member)?;
        let session = drawn();
        let [to, from] = subject::session(member, &self.name, &session);
        let incoming = self.connection.subscribe(from)?;
        let order = StartOrder { messages: VERSION, instance, session, run: run.to_owned() };
        let order = serde_json::to_vec(&order).expect("texts and numbers are JSON");
        let name = || member.to_owned();
        match self.connection.ask(subject::order(member, &self.name), order)? {
            Answer::Message(reply) => match serde_json::from_slice(&reply) {
                Ok(OrderReply::Started) => {
                    Session::begin(&self.connection, incoming, to).map_err(|error| FleetError::Refused {
                        name: name(),
                        because: format!("no thread was started for it here: {error}"),
                    })
                }
                Ok(OrderReply::Refused { because }) => Err(FleetError::Refused { name: name(), because }),
                Ok(OrderReply::Done) => {
                    Err(FleetError::Refused { name: name(), because: NOT_ASKED.to_owned() })
                }
                Err(error) => Err(FleetError::Refused { name: name(), because: error.to_string() }),
            },
            Answer::Nobody | Answer::None => {
                Err(FleetError::Silent { name: name(), said: self.connection.complaint() })
            }
        }
    }

    /// Has a member start no further agents, or start them again.
    ///
    /// # Errors
    /// When there is no such member, or more than one, or it refuses.
    pub fn drain(&self, member: &str, drain: bool) -> Result<(), FleetError> {
        let MemberInfo { instance, .. } = self.find(member)?;
        let order = DrainOrder { messages: VERSION, instance, drain };
        let order = serde_json::to_vec(&order).expect("texts and numbers are JSON");
        let name = member.to_owned();
        let refused = |because: String| Err(FleetError::Refused { name: name.clone(), because });
        match self.connection.ask(subject::order(member, &self.name), order)? {
            Answer::Message(reply) => match serde_json::from_slice(&reply) {
                Ok(OrderReply::Done) => Ok(()),
                Ok(OrderReply::Refused { because }) => refused(because),
                Ok(OrderReply::Started) => refused(NOT_ASKED.to_owned()),
                Err(error) => refused(error.to_string()),
            },
            Answer::Nobody | Answer::None => {
                Err(FleetError::Silent { name, said: self.connection.complaint() })
            }
        }
    }

    /// The one member of that name.
    fn find(&self, name: &str) -> Result<MemberInfo, FleetError> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let known = seen.as_ref().filter(|(at, _)| at.elapsed() < FRESH);
        let has = known.is_some_and(|(_, members)| members.iter().any(|member| member.name == name));
        if !has {
            *seen = Some((Instant::now(), self.members()?));
        }
        let members = seen.as_ref().map(|(_, members)| members.as_slice()).unwrap_or_default();
        one_of(members, name)
    }
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
            let others = members.iter().map(|member| member.name.clone()).collect();
            Err(FleetError::Unknown { name: name.to_owned(), others })
        }
        _ => {
            let hosts = called.iter().map(|member| member.host.clone()).collect();
            Err(FleetError::Ambiguous { name: name.to_owned(), hosts })
        }
    }
}

/// The members that are there, asked for by `user`.
pub(crate) fn members(connection: &Arc<Connection>, user: &str) -> Result<Vec<MemberInfo>, FleetError> {
    let answers = connection.ask_all(&subject::roll(user), ROLL)?;
    let mut members: Vec<MemberInfo> =
        answers.iter().filter_map(|answer| serde_json::from_slice(answer).ok()).collect();
    // What calls itself otherwise would be written into scenarios.
    members.retain(|member| subject::is_name(&member.name));
    members.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(members)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_the_only_one_of_its_name_and_speaks_this_version() {
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
        for (name, said) in [
            ("b", "2 members call themselves `b`, on the hosts h2, h3"),
            ("c", "plumb 9.0.0, which speaks version 2"),
            ("d", "no member calls itself `d` (those that are there: a, b, b, c)"),
        ] {
            let error = one_of(&members, name).expect_err(said).to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
