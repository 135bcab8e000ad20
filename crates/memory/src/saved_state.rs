//! The file with a rebalancer's state between runs.

use policy::State;
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
pub struct SavedState {
    schema: u32,
    state: State,
}

impl SavedState {
    const SCHEMA: u32 = 1;

    #[must_use]
    pub fn new(state: State) -> Self {
        Self { schema: Self::SCHEMA, state }
    }

    pub fn parse(text: &str) -> Result<State, String> {
        let saved: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        match saved.schema {
            Self::SCHEMA => Ok(saved.state),
            other => Err(format!("its version is {other}, expected {}", Self::SCHEMA)),
        }
    }
}
