//! A table of named tables, in document order, with the source positions of the names.

use std::{borrow::Cow, collections::BTreeMap, fmt, marker::PhantomData};

use super::spanned::Spanned;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, de};

#[derive(Debug, Clone)]
pub(crate) struct Section<T>(pub(crate) Vec<Entry<T>>);

#[derive(Debug, Clone)]
pub(crate) struct Entry<T> {
    pub(crate) name: Spanned<String>,
    pub(crate) table: T,
}

impl<T> Section<T> {
    pub(crate) fn new(mut entries: Vec<Entry<T>>) -> Self {
        entries.sort_by_key(|entry| entry.name.span().start);
        Self(entries)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Entry<T>> {
        self.0.iter()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.iter().map(Entry::name)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Entry<T>> {
        self.iter().find(|entry| entry.name() == name)
    }
}

impl<T> Default for Section<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Entry<T> {
    pub(crate) fn name(&self) -> &str {
        self.name.get_ref()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Section<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(SectionVisitor(PhantomData))
    }
}

struct SectionVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> de::Visitor<'de> for SectionVisitor<T> {
    type Value = Section<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of named tables")
    }

    fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(name) = map.next_key()? {
            entries.push(Entry { name, table: map.next_value()? });
        }
        Ok(Section::new(entries))
    }
}

impl<T: JsonSchema> JsonSchema for Section<T> {
    fn schema_name() -> Cow<'static, str> {
        Cow::Owned(format!("Section_of_{}", T::schema_name()))
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        BTreeMap::<String, T>::json_schema(generator)
    }
}
