//! What can be varied: every word, of devices and of workloads.

use std::ops::Range;

use serde_json::{Value, json};
use toml::Spanned;

use super::workload_words;
use crate::{
    diagnosis::Problem,
    factor::{Setting, WorkloadSetting},
    lab::{DeviceSettingKind, DeviceSettings},
    nearest,
    values::Word,
};

/// A word that a factor can vary.
#[derive(Clone, Copy)]
pub(super) enum Vary {
    Devices(DeviceSettingKind, &'static Word<DeviceSettings>),
    Workload(&'static Word<WorkloadSetting>),
}

impl Vary {
    /// Every word.
    fn all() -> impl Iterator<Item = Self> + Clone {
        let of = |kind: DeviceSettingKind| kind.words().iter().map(move |word| Self::Devices(kind, word));
        let devices = DeviceSettingKind::ALL.into_iter().flat_map(of);
        devices.chain(workload_words::ALL.iter().map(Self::Workload))
    }

    /// What is written as `word`.
    pub(super) fn read(word: &Spanned<String>) -> Result<Self, Problem> {
        Self::all().find(|vary| vary.word() == word.get_ref()).ok_or_else(|| {
            let message = format!("`{}` is not one of the words for this", word.get_ref());
            let help = nearest::advice(word.get_ref(), "words", Self::all().map(Self::word));
            Problem::new(word.span(), message, "not understood").help(help)
        })
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Devices(_, word) => word.word,
            Self::Workload(word) => word.word,
        }
    }

    /// Whether other factors can be multiples of its values.
    pub(super) fn is_counted(self) -> bool {
        match self {
            Self::Devices(kind, _) => kind.is_counted(),
            Self::Workload(_) => false,
        }
    }

    /// What the value `text` sets.
    pub(super) fn setting(self, text: &str, place: Range<usize>) -> Result<Setting, Problem> {
        match self {
            Self::Devices(_, word) => word.read(text, place).map(Setting::Devices),
            Self::Workload(word) => word.read(text, place).map(Setting::Workload),
        }
    }
}

/// The words of `[devices]` with their values, for editors.
pub(crate) fn device_words() -> serde_json::Map<String, Value> {
    let words = DeviceSettingKind::ALL.into_iter().flat_map(DeviceSettingKind::words);
    words.map(|word| (word.word.to_owned(), word.schema())).collect()
}

/// The words that factors can vary, for editors.
pub(crate) fn vary_words() -> Vec<Value> {
    let about = |vary| match vary {
        Vary::Devices(_, word) => word.about,
        Vary::Workload(word) => word.about,
    };
    let word = |vary: Vary| json!({ "const": vary.word(), "description": about(vary), "type": "string" });
    Vary::all().map(word).collect()
}
