//! Passes arbitrary bytes to the target in `FUZZ_TARGET`. Targets that need private items are modules of the tested
//! crates.
#![no_main]

mod import;
mod iperf3;
mod protocol;
mod scenario;
mod sockperf;

use std::sync::LazyLock;

/// Each target has a corpus of the same name.
const TARGETS: &[(&str, fn(&[u8]))] = &[
    ("to_agent", protocol::to_agent),
    ("from_agent", protocol::from_agent),
    ("to_nested_run", protocol::to_nested_run),
    ("from_nested_run", protocol::from_nested_run),
    ("extension", server::exercise::record),
    #[cfg(feature = "whole")]
    ("fleet_message", fleet::exercise::message),
    #[cfg(feature = "whole")]
    ("fleet_session", fleet::exercise::session),
    ("greeting", server::exercise::first_bytes),
    ("import_json", import::import),
    ("import_table", import::table),
    ("import_text", import::import),
    ("iperf3_client_control", iperf3::client_control),
    ("iperf3_params_json", iperf3::json),
    ("iperf3_server_control", iperf3::server_control),
    ("iperf3_udp_header", iperf3::datagram),
    #[cfg(feature = "whole")]
    ("registry", lab::exercise::registered),
    ("scenario", scenario::scenario),
    ("sockperf_message", sockperf::exercise),
    #[cfg(feature = "whole")]
    ("web_request", web_request),
];

static CHOSEN: LazyLock<fn(&[u8])> = LazyLock::new(|| {
    let name = std::env::var("FUZZ_TARGET").expect("FUZZ_TARGET is set");
    let known = TARGETS.iter().find(|(known, _)| *known == name);
    known.unwrap_or_else(|| panic!("no target {name} in this build")).1
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| CHOSEN(bytes));

#[cfg(feature = "whole")]
fn web_request(bytes: &[u8]) {
    static PAGES: LazyLock<web::exercise::Pages> = LazyLock::new(|| {
        let name = format!("plumb-fuzz-{}.db", std::process::id());
        web::exercise::Pages::over(&std::env::temp_dir().join(name))
    });
    PAGES.ask(bytes);
}
