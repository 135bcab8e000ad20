//! JSON forwarded unchanged.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// JSON with only its syntax checked. Uses no more memory than its text.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Unread(Box<RawValue>);

impl Unread {
    #[must_use]
    pub fn new(text: String) -> Option<Self> {
        RawValue::from_string(text).ok().map(Self)
    }

    #[must_use]
    pub fn text(&self) -> &str {
        self.0.get()
    }
}

impl PartialEq for Unread {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}
