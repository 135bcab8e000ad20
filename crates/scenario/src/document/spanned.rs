//! A value with its position in the document.

use std::{borrow::Cow, fmt, ops::Range};

use derive_more::{Deref, DerefMut};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize};

/// Values are serialised for the defaults in the schema.
#[derive(Debug, Clone, Deref, DerefMut, Serialize)]
#[serde(transparent)]
pub(crate) struct Spanned<T> {
    #[serde(skip)]
    span: Range<usize>,
    #[deref]
    #[deref_mut]
    value: T,
}

impl<T> Spanned<T> {
    pub(crate) fn new(span: Range<usize>, value: T) -> Self {
        Self { span, value }
    }

    pub(crate) fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    pub(crate) fn get_ref(&self) -> &T {
        &self.value
    }
}

impl<T: fmt::Display> fmt::Display for Spanned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Spanned<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = toml::Spanned::deserialize(deserializer)?;
        Ok(Self::new(written.span(), written.into_inner()))
    }
}

impl<T: JsonSchema> JsonSchema for Spanned<T> {
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

impl From<&Spanned<Self>> for String {
    fn from(written: &Spanned<Self>) -> Self {
        written.value.clone()
    }
}
