//! Tests in which users of a fleet attack each other through a real NATS server.
#![expect(clippy::disallowed_methods, reason = "writes files and waits for members")]

mod client;
mod orders;
mod permissions;

use std::process::ExitCode;

use plumb_tests::{Case, Need, run};

const NATS: Need = Need::Program("nats-server", "nats-server");

fn main() -> ExitCode {
    run(&[
        Case {
            name: "server_permits_each_user_only_its_own_name",
            needs: &[NATS],
            test: permissions::of_every_pair,
        },
        Case {
            name: "reply_subject_grants_no_rights_of_another_user",
            needs: &[NATS],
            test: permissions::by_reply_subjects,
        },
        Case {
            name: "member_refuses_forged_repeated_and_foreign_orders",
            needs: &[NATS],
            test: orders::forged_and_repeated,
        },
        Case {
            name: "session_ends_at_a_message_that_its_controller_did_not_sign",
            needs: &[NATS],
            test: orders::sessions,
        },
        Case { name: "member_cannot_use_the_name_of_another", needs: &[NATS], test: orders::names_of_others },
    ])
}
