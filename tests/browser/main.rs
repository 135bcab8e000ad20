//! `plumb web` and report pages in a real browser: Chromium, and what a browser would not send over plain sockets.
#![expect(clippy::disallowed_methods, reason = "tests wait, and read files")]

mod access;
mod chrome;
mod kept;
mod live;
mod pages;
mod server;

use std::process::ExitCode;

use plumb_tests::{Case, Need, Sandbox, run};

fn main() -> ExitCode {
    run(CASES)
}

const CHROMIUM: Need = Need::Program("chromium", "chromium");
const AXE: Need = Need::File(pages::AXE, "axe-core (npm ci --prefix tests/browser)");

const CASES: &[Case] = &[
    Case { name: "runs_are_searched_filtered_and_leafed_through", needs: &[CHROMIUM], test: pages::list },
    Case { name: "a_report_stands_under_the_bar_and_is_downloaded", needs: &[CHROMIUM], test: pages::report },
    Case { name: "two_ticked_runs_are_compared_environment_first", needs: &[CHROMIUM], test: pages::compare },
    Case { name: "a_history_names_the_run_that_changed_a_result", needs: &[CHROMIUM], test: pages::history },
    Case { name: "hostile_names_are_text_on_every_page", needs: &[CHROMIUM], test: pages::hostile },
    Case { name: "every_page_works_without_scripts", needs: &[CHROMIUM], test: pages::without_scripts },
    Case {
        name: "no_page_has_a_serious_violation_or_is_wider_than_a_phone",
        needs: &[CHROMIUM, AXE],
        test: pages::accessible,
    },
    Case { name: "a_report_opens_from_disk_with_scripts_off", needs: &[CHROMIUM], test: pages::from_disk },
    Case { name: "a_run_is_followed_to_its_end", needs: &[CHROMIUM, Need::Root], test: live::followed },
    Case {
        name: "a_run_that_was_started_from_the_page_ends_with_it",
        needs: &[CHROMIUM, Need::Root],
        test: live::started,
    },
    Case {
        name: "off_loopback_the_token_opens_the_page_and_nothing_else_does",
        needs: &[CHROMIUM, Need::Root, Need::Program("ip", "iproute2")],
        test: access::token,
    },
    Case { name: "foreign_names_origins_and_methods_are_refused", needs: &[], test: access::refused },
    Case { name: "an_address_for_others_needs_a_token_that_is_one", needs: &[], test: access::token_file },
];

fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_plumb"))
}
