//! Reservations of shared hosts, and fleet members, which receive orders over NATS and start agents.

mod abstract_name;
mod connection;
mod controller;
mod dial;
mod error;
#[cfg(any(test, fuzzing))]
#[path = "../../../fuzz/src/fleet.rs"]
pub mod exercise;
mod frame;
mod key;
mod member;
mod message;
mod order;
mod presence;
mod reservation;
mod seal;
mod server_users;
mod stream;
mod subject;
mod window;
mod wire;

pub use controller::Controller;
pub use dial::{ServerAccess, is_address};
pub use error::FleetError;
pub use key::{NKey, NKeyError, PublicKey};
pub use member::{Agent, AgentStarter, MemberPolicy, MemberStatus, address_towards, serve};
pub use message::MemberInfo;
pub use presence::Presence;
pub use reservation::{Occupied, Reservation};
pub use server_users::{Role, User, users};
pub use stream::{Session, StreamReader, StreamWriter};
pub use subject::{NAME_RULE, is_name};
pub use window::LEASE;
