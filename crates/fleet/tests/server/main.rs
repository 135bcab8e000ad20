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
            name: "the_server_lets_each_user_act_under_its_own_name_only",
            needs: &[NATS],
            test: permissions::of_every_pair,
        },
        Case {
            name: "a_reply_subject_gives_no_user_the_right_of_another",
            needs: &[NATS],
            test: permissions::by_reply_subjects,
        },
        Case {
            name: "a_member_refuses_forged_repeated_and_foreign_orders_of_any_server",
            needs: &[NATS],
            test: orders::forged_and_repeated,
        },
        Case {
            name: "a_session_ends_when_its_controller_did_not_sign_a_message",
            needs: &[NATS],
            test: orders::sessions,
        },
        Case {
            name: "a_member_cannot_take_the_name_of_another",
            needs: &[NATS],
            test: orders::names_of_others,
        },
    ])
}
