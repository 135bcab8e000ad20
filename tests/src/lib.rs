//! Shared code of the test programs. tests/cli needs privileges only for tracing, tests/lab creates real labs,
//! tests/vm boots guests, and tests/soak takes hours.
#![expect(clippy::disallowed_methods, reason = "tests read /proc, files and the clock")]
#![expect(clippy::disallowed_macros, reason = "the reason for a skip is printed")]

mod attack;
mod bounded;
mod capture;
mod certificate;
mod chrome;
mod command;
mod fleet;
mod hostile_relay;
mod hosts_scenario;
pub mod kills;
mod leftovers;
mod loopback;
mod need;
mod other_work;
mod postgres_server;
mod process_guard;
mod scenario;
pub mod scripted_vm;
mod ssh_network;
pub mod storm;
mod vary;
mod web_server;

pub use attack::{SOURCES, attack, source};
pub use bounded::{Limits, Taken, stays_bounded};
pub use capture::{Capture, Connection};
pub use certificate::certificate;
pub use chrome::Chrome;
pub use command::{Output, Sandbox, trials};
pub use fleet::{Fleet, NATS_SERVER};
pub use hostile_relay::{Address, HostileRelay, Liar, Lie};
pub use hosts_scenario::{by_member, by_ssh, first_two, pair, pairs};
pub use kills::{Random, kill};
pub use leftovers::{Leftovers, agents, belongs_to, cpu_time, name, processes, signal, wait_until};
pub use loopback::{bring_loopback_up, dropped, in_one_of_five, on_loopback, path_of};
pub use need::{Case, GUEST_KERNEL_VARIABLE, Need, guest_kernel, guest_kernel_series, in_one_of_three, run};
pub use other_work::OtherWork;
pub use postgres_server::PostgresServer;
pub use process_guard::ProcessGuard;
pub use scenario::{COUNTED_SCENARIO, compaction_cycles, wire, wire_with_latency};
pub use ssh_network::Network;
pub use vary::vary;
pub use web_server::WebServer;

pub const PATIENCE: std::time::Duration = std::time::Duration::from_secs(180);
