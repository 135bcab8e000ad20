//! Checks each user's permissions against all other users.

use crate::client::{CONTROLLERS, MEMBERS, Server};

fn token(name: &str) -> String {
    name.replace('.', "~")
}

fn subjects() -> Vec<(String, Vec<&'static str>, Vec<&'static str>)> {
    let all: Vec<&'static str> = MEMBERS.into_iter().chain(CONTROLLERS).collect();
    let is_member = |name: &&'static str| MEMBERS.contains(name);
    let is_controller = |name: &&'static str| CONTROLLERS.contains(name);
    let only = |name: &'static str, may: bool| if may { vec![name] } else { Vec::new() };
    let mut subjects = Vec::new();
    for one in all.clone() {
        subjects.push((format!("plumb.roll.{}", token(one)), vec![one], MEMBERS.to_vec()));
        for other in all.clone() {
            let (a, b) = (token(one), token(other));
            let (member, controller) = (only(one, is_member(&one)), only(other, is_controller(&other)));
            subjects.push((format!("plumb.order.{a}.{b}"), controller.clone(), member.clone()));
            subjects.push((format!("plumb.session.{a}.{b}.0f.to"), controller.clone(), member.clone()));
            subjects.push((format!("plumb.session.{a}.{b}.0f.from"), member, controller));
            subjects.push((format!("plumb.answer.{a}.{b}.0f"), only(other, is_member(&other)), vec![one]));
        }
    }
    for other in ["_INBOX.a.x", "_INBOX.x", "plumb.other", "$SYS.REQ.SERVER.PING", "plumb.answer.ops.0f"] {
        subjects.push((other.to_owned(), Vec::new(), Vec::new()));
    }
    subjects
}

pub(crate) fn of_every_pair() {
    let server = Server::of_a_fleet();
    for user in MEMBERS.into_iter().chain(CONTROLLERS) {
        let mut client = server.client(user);
        for (sid, (subject, publishers, subscribers)) in subjects().iter().enumerate() {
            assert_eq!(
                client.publish(subject, "", b""),
                publishers.contains(&user),
                "{user} publishes to {subject}"
            );
            assert_eq!(
                client.subscribe(subject, sid + 1),
                subscribers.contains(&user),
                "{user} subscribes to {subject}"
            );
            client.unsubscribe(sid + 1);
        }
        for wide in [">", "plumb.>", "plumb.order.>", "plumb.session.>", "plumb.answer.>", "plumb.*.*.*"] {
            assert!(!client.subscribe(wide, 1), "{user} subscribes to {wide}");
        }
    }
}

/// A user receives its own requests, and with `allow_responses` it could publish to their reply subjects.
pub(crate) fn by_reply_subjects() {
    let server = Server::of_a_fleet();
    for user in MEMBERS.into_iter().chain(CONTROLLERS) {
        let mut client = server.client(user);
        let own = token(user);
        let mut received = 0;
        for (sid, question) in
            [format!("plumb.roll.{own}"), format!("plumb.answer.{own}.{own}.0f")].iter().enumerate()
        {
            let _ = client.subscribe(question, sid + 1);
            for (reply, publishers, _) in subjects() {
                client.messages.clear();
                let _ = client.publish(question, &reply, b"00");
                received += client.messages.len();
                let may = client.publish(&reply, "", b"answer");
                assert_eq!(may, publishers.contains(&user), "{user} replies to {reply}");
            }
        }
        assert_eq!(received > 0, MEMBERS.contains(&user), "{user} has received its own requests");
    }
}
