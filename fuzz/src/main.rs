//! Passes arbitrary bytes to the target in `FUZZ_TARGET`. A single program for all targets, which is linked once.
#![no_main]

use std::sync::LazyLock;

/// Each has a corpus of the same name.
const TARGETS: &[(&str, fn(&[u8]))] = &[
    ("agent_is_told", protocol::exercise::to_agent),
    ("agent_says", protocol::exercise::from_agent),
    ("conductor_is_told", protocol::exercise::to_conductor),
    ("conductor_says", protocol::exercise::from_conductor),
    ("extension", server::exercise::record),
    #[cfg(feature = "whole")]
    ("fleet_message", fleet::exercise::message),
    #[cfg(feature = "whole")]
    ("fleet_session", fleet::exercise::session),
    ("greeting", server::exercise::first_bytes),
    ("import_json", import::exercise::import),
    ("import_table", import::exercise::table),
    ("import_text", import::exercise::import),
    ("iperf3_client_control", codecs::iperf3::exercise::client_control),
    ("iperf3_params_json", codecs::iperf3::exercise::json),
    ("iperf3_server_control", codecs::iperf3::exercise::server_control),
    ("iperf3_udp_header", codecs::iperf3::exercise::datagram),
    #[cfg(feature = "whole")]
    ("registry", lab::exercise::registered),
    ("scenario", scenario::exercise::scenario),
    ("sockperf_message", codecs::sockperf::exercise),
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
    /// Uses an empty store in the temporary directory.
    static PAGES: LazyLock<web::exercise::Pages> = LazyLock::new(|| {
        let name = format!("plumb-fuzz-{}.db", std::process::id());
        web::exercise::Pages::over(&std::env::temp_dir().join(name))
    });
    PAGES.ask(bytes);
}
