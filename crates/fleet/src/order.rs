//! Orders from a controller. Each order is signed, addressed to one member, and valid only once and for a
//! short time.

use std::{
    collections::HashMap,
    time::{SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};

use crate::{
    key::{NKey, PublicKey},
    message::VERSION,
    seal::Signed,
};

/// The lifetime in milliseconds, and the largest allowed clock difference between controller and member.
const LIFETIME: i64 = 60_000;
const MOST_REMEMBERED: usize = 10_000;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) messages: u32,
    pub(crate) controller: String,
    pub(crate) member: String,
    pub(crate) instance: String,
    pub(crate) id: String,
    /// Milliseconds since 1970.
    pub(crate) expires: i64,
    pub(crate) task: Task,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Task {
    Drain(bool),
    Start(StartOrder),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StartOrder {
    pub(crate) session: String,
    pub(crate) run: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct OrderAddress {
    pub(crate) messages: u32,
    pub(crate) instance: String,
    pub(crate) id: String,
}

impl Order {
    pub(crate) fn new(controller: &str, [member, instance, id]: [&str; 3], task: Task) -> Self {
        let [controller, member, instance, id] = [controller, member, instance, id].map(str::to_owned);
        Self { messages: VERSION, controller, member, instance, id, expires: now() + LIFETIME, task }
    }

    pub(crate) fn sign(&self, key: &NKey) -> Vec<u8> {
        let order = serde_json::to_string(self).expect("texts and numbers are JSON");
        serde_json::to_vec(&Signed::order(order, key)).expect("texts are JSON")
    }
}

/// Milliseconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

#[derive(Debug, Default)]
pub(crate) struct Obeyed(HashMap<String, i64>);

impl Obeyed {
    pub(crate) fn check(
        &mut self,
        signed: &Signed,
        [controller, member]: [&str; 2],
        key: &PublicKey,
        now: i64,
    ) -> Result<Order, String> {
        if !signed.is_by(key) {
            return Err(format!(
                "the order is not signed with the key of `{controller}` in this member's file; copy the file from the fleet's \
                 folder again if that controller has a new key"
            ));
        }
        let order: Order = serde_json::from_str(&signed.order).map_err(|error| error.to_string())?;
        if order.controller != controller || order.member != member {
            return Err(format!(
                "the signed order is from `{}` to `{}`, not from `{controller}` to `{member}`",
                order.controller, order.member
            ));
        }
        if !(now..=now + 2 * LIFETIME).contains(&order.expires) {
            let seconds = (now - (order.expires - LIFETIME)) / 1000;
            return Err(format!(
                "the order expired: it is {seconds} s old by the clock of this host; set the clocks of both hosts"
            ));
        }
        self.0.retain(|_, expires| *expires >= now);
        if self.0.contains_key(&order.id) {
            return Err("the order was already received: this one is a copy".to_owned());
        }
        if self.0.len() >= MOST_REMEMBERED {
            return Err(format!("it received {MOST_REMEMBERED} orders in two minutes"));
        }
        self.0.insert(order.id.clone(), order.expires);
        Ok(order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_764_115_200_000;

    fn order() -> Order {
        let order = Order::new("ops", ["rack-1", "0a", "0b"], Task::Drain(true));
        Order { expires: NOW + LIFETIME, ..order }
    }

    fn signed(order: &Order, key: &NKey) -> Signed {
        serde_json::from_slice(&order.sign(key)).expect("a signed order")
    }

    #[test]
    fn accepts_an_order_only_once_and_before_it_expires() {
        let key = NKey::generate();
        let public = PublicKey::read(&key.public()).expect("a public key");
        let mut obeyed = Obeyed::default();
        let mut check = |order: &Order, now| {
            obeyed.check(&signed(order, &key), ["ops", "rack-1"], &public, now).map(|order| order.task)
        };
        assert_eq!(check(&order(), NOW), Ok(Task::Drain(true)));
        let copied = check(&order(), NOW + LIFETIME).expect_err("a copy");
        assert!(copied.contains("already received"), "{copied}");
        let other = Order { id: "0c".to_owned(), ..order() };
        for now in [NOW + LIFETIME + 1, NOW - LIFETIME - 1, i64::MAX / 2] {
            let expired = check(&other, now).expect_err("too old, or too new");
            assert!(expired.contains("expired"), "{expired}");
        }
        assert!(check(&other, NOW + LIFETIME).is_ok());
        assert!(check(&order(), NOW + LIFETIME + 1).is_err_and(|message| message.contains("expired")));
    }

    #[test]
    fn refuses_orders_of_another_key_for_another_member_or_changed_ones() {
        let (key, other) = (NKey::generate(), NKey::generate());
        let public = PublicKey::read(&key.public()).expect("a public key");
        let check = |signed: &Signed| Obeyed::default().check(signed, ["ops", "rack-1"], &public, NOW);
        assert!(check(&signed(&order(), &key)).is_ok());
        let renamed = |controller: &str, member: &str| {
            let (controller, member) = (controller.to_owned(), member.to_owned());
            signed(&Order { controller, member, ..order() }, &key)
        };
        let changed = |from: &str, to: &str| {
            let Signed { order, signature } = signed(&order(), &key);
            assert!(order.contains(from), "{order}");
            Signed { order: order.replace(from, to), signature }
        };
        let text = signed(&order(), &key).order;
        // A server could have this text signed as a nonce, but the text lacks the prefix of orders.
        let nonce = Signed {
            signature: base64::Engine::encode(
                &base64::engine::general_purpose::STANDARD,
                key.sign(text.as_bytes()),
            ),
            order: text,
        };
        for wrong in [
            signed(&order(), &other),
            renamed("ops", "rack-2"),
            renamed("guest", "rack-1"),
            changed("rack-1", "rack-2"),
            changed("\"id\":\"0b\"", "\"id\":\"0c\""),
            changed("true", "false"),
            changed(&(NOW + LIFETIME).to_string(), &(NOW + 2 * LIFETIME).to_string()),
            Signed { signature: String::new(), ..signed(&order(), &key) },
            nonce,
        ] {
            assert!(check(&wrong).is_err(), "{wrong:?}");
        }
    }
}
