//! The pairs of existing hosts to measure, written as a word or as a list.

use std::{borrow::Cow, fmt, ops::Range};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};

use super::Document;
use super::spanned::Spanned;

/// `"all"`, `"ring"` or `[["a", "b"], ...]`.
#[derive(Debug, Clone)]
pub(crate) enum Pairs {
    All,
    /// Each host is paired with the next, and the last with the first.
    Ring,
    List(Vec<Vec<Spanned<String>>>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PairWay<'d> {
    pub(crate) from: &'d str,
    pub(crate) to: &'d str,
    pub(crate) place: Range<usize>,
}

impl<'d> PairWay<'d> {
    fn both(one: &'d str, other: &'d str, place: &Range<usize>) -> [Self; 2] {
        [(one, other), (other, one)].map(|(from, to)| Self { from, to, place: place.clone() })
    }

    pub(crate) fn name(&self) -> String {
        format!("{}-to-{}", self.from, self.to)
    }
}

impl Document {
    pub(crate) fn existing_hosts(&self) -> Vec<&str> {
        let exists = self.hosts.iter().filter(|entry| entry.table.at.is_some());
        exists.map(|entry| entry.name()).collect()
    }

    pub(crate) fn pair_ways(&self) -> Vec<PairWay<'_>> {
        let Some(pairs) = &self.pairs else { return Vec::new() };
        let (hosts, place) = (self.existing_hosts(), pairs.span());
        let count = hosts.len();
        let of_places = |places: Vec<(usize, usize)>| -> Vec<(&str, &str, Range<usize>)> {
            places.into_iter().map(|(one, other)| (hosts[one], hosts[other], place.clone())).collect()
        };
        let pairs = match pairs.get_ref() {
            Pairs::All => of_places(
                (0..count).flat_map(|one| (one + 1..count).map(move |other| (one, other))).collect(),
            ),
            // Two hosts form only one pair.
            Pairs::Ring if count == 2 => of_places(vec![(0, 1)]),
            Pairs::Ring if count > 2 => of_places((0..count).map(|one| (one, (one + 1) % count)).collect()),
            Pairs::Ring => Vec::new(),
            Pairs::List(list) => {
                let two = list.iter().filter_map(|pair| match pair.as_slice() {
                    [one, other] => Some((one, other)),
                    _ => None,
                });
                two.map(|(one, other)| (one.as_str(), other.as_str(), one.span().start..other.span().end))
                    .collect()
            }
        };
        pairs.into_iter().flat_map(|(one, other, place)| PairWay::both(one, other, &place)).collect()
    }

    pub(crate) fn path_names(&self) -> Vec<String> {
        let written = self.paths.names().map(str::to_owned);
        written.chain(self.pair_ways().iter().map(PairWay::name)).collect()
    }
}

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PairsVisitor)
    }
}

struct PairsVisitor;

impl<'de> de::Visitor<'de> for PairsVisitor {
    type Value = Pairs;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"all\", \"ring\" or pairs of hosts, e.g. [[\"a\", \"b\"]]")
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<Pairs, E> {
        match word {
            "all" => Ok(Pairs::All),
            "ring" => Ok(Pairs::Ring),
            _ => Err(E::unknown_variant(word, &["all", "ring"])),
        }
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut list: A) -> Result<Pairs, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = list.next_element()? {
            pairs.push(pair);
        }
        Ok(Pairs::List(pairs))
    }
}

impl JsonSchema for Pairs {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Pairs")
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let pair =
            json_schema!({ "type": "array", "items": { "type": "string" }, "minItems": 2, "maxItems": 2 });
        json_schema!({ "oneOf": [{ "enum": ["all", "ring"] }, { "type": "array", "items": pair }] })
    }
}
