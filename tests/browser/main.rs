//! Tests `plumb web` and report pages in Chromium, and with raw requests over plain sockets.
#![expect(clippy::disallowed_methods, reason = "tests wait, and read files")]

mod access;
mod builtins;
mod kept;
mod layout;
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
    Case { name: "searches_filters_and_pages_through_runs", needs: &[CHROMIUM], test: pages::list },
    Case { name: "report_has_the_top_bar_and_can_be_downloaded", needs: &[CHROMIUM], test: pages::report },
    Case {
        name: "comparison_of_two_selected_runs_begins_with_its_verdict",
        needs: &[CHROMIUM],
        test: pages::compare,
    },
    Case { name: "history_names_the_run_that_changed_a_result", needs: &[CHROMIUM], test: pages::history },
    Case { name: "hostile_names_stay_text_on_every_page", needs: &[CHROMIUM], test: pages::hostile },
    Case { name: "every_page_works_without_scripts", needs: &[CHROMIUM], test: pages::without_scripts },
    Case { name: "pages_have_no_accessibility_violation", needs: &[CHROMIUM, AXE], test: pages::accessible },
    Case { name: "pages_fit_screens_of_every_width", needs: &[CHROMIUM], test: layout::every_width },
    Case { name: "pages_fit_a4_paper_and_omit_controls", needs: &[CHROMIUM], test: layout::on_paper },
    Case { name: "opens_report_from_disk_without_scripts", needs: &[CHROMIUM], test: pages::from_disk },
    Case {
        name: "shows_the_value_of_every_mark_by_pointer_and_keyboard",
        needs: &[CHROMIUM],
        test: script::values,
    },
    Case { name: "legend_entry_hides_its_series", needs: &[CHROMIUM], test: script::series_by_legend },
    Case { name: "zooms_into_a_time_series_and_back", needs: &[CHROMIUM], test: script::zoom },
    Case {
        name: "sorts_tables_up_down_and_back_to_the_original_order",
        needs: &[CHROMIUM],
        test: script::sorted,
    },
    Case { name: "sorts_fields_by_value_across_units", needs: &[CHROMIUM], test: script::units },
    Case {
        name: "report_with_script_has_no_accessibility_violation",
        needs: &[CHROMIUM, AXE],
        test: script::accessible,
    },
    Case { name: "script_shows_hostile_names_as_text", needs: &[CHROMIUM], test: script::hostile },
    Case { name: "served_report_runs_only_its_own_script", needs: &[CHROMIUM], test: script::served },
    Case {
        name: "encrypts_pages_with_a_certificate",
        needs: &[CHROMIUM, Need::Program("openssl", "openssl"), Need::Program("curl", "curl")],
        test: access::encrypted,
    },
    Case {
        name: "silent_tls_connections_leave_room_for_others_and_end",
        needs: &[Need::Program("openssl", "openssl"), Need::Program("curl", "curl")],
        test: access::silent_handshakes,
    },
    Case {
        name: "refuses_certificate_without_key",
        needs: &[Need::Program("openssl", "openssl")],
        test: access::unfit_certificates,
    },
    Case { name: "follows_a_run_to_its_end", needs: &[CHROMIUM, Need::Root], test: live::followed },
    Case {
        name: "pages_beyond_loopback_require_the_token",
        needs: &[CHROMIUM, Need::Root, Need::Program("ip", "iproute2")],
        test: access::token,
    },
    Case { name: "refuses_foreign_names_origins_and_methods", needs: &[], test: access::refused },
    Case { name: "no_request_starts_a_run", needs: &[], test: access::starts_nothing },
    Case { name: "address_beyond_loopback_needs_a_valid_token", needs: &[], test: access::token_file },
    Case { name: "cookie_ends_with_sign_out_and_server", needs: &[], test: access::cookies },
    Case {
        name: "limits_wrong_tokens_by_address_in_form_and_header",
        needs: &[Need::Program("curl", "curl")],
        test: access::guesses,
    },
];

fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_plumb"))
}
