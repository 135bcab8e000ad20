//! `plumb web` and report pages in a real browser: Chromium, and what a browser would not send over plain sockets.
#![expect(clippy::disallowed_methods, reason = "tests wait, and read files")]

mod access;
mod kept;
mod live;
mod pages;
mod script;

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
    Case { name: "every_mark_says_its_value_to_pointer_and_keys", needs: &[CHROMIUM], test: script::values },
    Case {
        name: "an_entry_of_a_legend_hides_what_it_stands_for",
        needs: &[CHROMIUM],
        test: script::series_by_legend,
    },
    Case {
        name: "a_part_of_a_time_series_is_shown_and_the_whole_again",
        needs: &[CHROMIUM],
        test: script::zoom,
    },
    Case { name: "a_table_is_sorted_up_down_and_as_it_came", needs: &[CHROMIUM], test: script::sorted },
    Case {
        name: "cells_are_sorted_by_what_their_units_make_of_them",
        needs: &[CHROMIUM],
        test: script::units,
    },
    Case {
        name: "a_report_with_its_script_has_no_serious_violation",
        needs: &[CHROMIUM, AXE],
        test: script::accessible,
    },
    Case { name: "the_script_shows_hostile_names_as_text", needs: &[CHROMIUM], test: script::hostile },
    Case {
        name: "a_served_report_runs_its_own_script_and_no_other",
        needs: &[CHROMIUM],
        test: script::served,
    },
    Case {
        name: "with_a_certificate_pages_are_encrypted",
        needs: &[CHROMIUM, Need::Program("openssl", "openssl"), Need::Program("curl", "curl")],
        test: access::encrypted,
    },
    Case {
        name: "a_certificate_without_its_key_is_refused",
        needs: &[Need::Program("openssl", "openssl")],
        test: access::unfit_certificates,
    },
    Case { name: "a_run_is_followed_to_its_end", needs: &[CHROMIUM, Need::Root], test: live::followed },
    Case {
        name: "off_loopback_the_token_opens_the_page_and_nothing_else_does",
        needs: &[CHROMIUM, Need::Root, Need::Program("ip", "iproute2")],
        test: access::token,
    },
    Case { name: "foreign_names_origins_and_methods_are_refused", needs: &[], test: access::refused },
    Case { name: "an_address_for_others_needs_a_token_that_is_one", needs: &[], test: access::token_file },
    Case { name: "a_cookie_ends_with_a_sign_out_and_with_the_server", needs: &[], test: access::cookies },
    Case {
        name: "wrong_tokens_are_limited_by_address_in_the_form_and_in_the_header",
        needs: &[Need::Program("curl", "curl")],
        test: access::guesses,
    },
];

fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_plumb"))
}
