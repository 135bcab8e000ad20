//! JSON that is handed on as it came.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// JSON that nobody has looked into but for its grammar: it takes no more memory than its text, whatever is in it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Unread(Box<RawValue>);

impl Unread {
    /// This text; `None` when it is no JSON.
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
