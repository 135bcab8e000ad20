//! The settings of devices and workloads that a factor can vary.

use crate::document::Spanned;
use std::ops::Range;

use serde_json::{Value, json};

use super::workload_words;
use crate::{
    diagnosis::Problem,
    factor::{Setting, WorkloadSetting},
    lab::{DeviceSettingKind, DeviceSettings},
    nearest,
    values::Word,
};

#[derive(Clone, Copy)]
pub(super) enum Vary {
    Devices(DeviceSettingKind, &'static Word<DeviceSettings>),
    Workload(&'static Word<WorkloadSetting>),
}

impl Vary {
    fn all() -> impl Iterator<Item = Self> + Clone {
        let of = |kind: DeviceSettingKind| kind.words().iter().map(move |word| Self::Devices(kind, word));
        let devices = DeviceSettingKind::ALL.into_iter().flat_map(of);
        devices.chain(workload_words::ALL.iter().map(Self::Workload))
    }

    pub(super) fn read(word: &Spanned<String>) -> Result<Self, Problem> {
        Self::all().find(|vary| vary.word() == word.get_ref()).ok_or_else(|| {
            let message = format!("`{word}` is not a known setting");
            let help = nearest::advice(word, "words", Self::all().map(Self::word));
            Problem::new(word.span(), message, "unknown setting").help(help)
        })
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Devices(_, word) => word.word,
            Self::Workload(word) => word.word,
        }
    }

    pub(super) fn is_counted(self) -> bool {
        match self {
            Self::Devices(kind, _) => kind.is_counted(),
            Self::Workload(_) => false,
        }
    }

    pub(super) fn setting(self, text: &str, place: Range<usize>) -> Result<Setting, Problem> {
        match self {
            Self::Devices(_, word) => word.read(text, place).map(Setting::Devices),
            Self::Workload(word) => word.read(text, place).map(Setting::Workload),
        }
    }
}

pub(crate) fn device_words() -> serde_json::Map<String, Value> {
    let words = DeviceSettingKind::ALL.into_iter().flat_map(DeviceSettingKind::words);
    words.map(|word| (word.word.to_owned(), word.schema())).collect()
}

pub(crate) fn vary_words() -> Vec<Value> {
    let about = |vary| match vary {
        Vary::Devices(_, word) => word.about,
        Vary::Workload(word) => word.about,
    };
    let word = |vary: Vary| json!({ "const": vary.word(), "description": about(vary), "type": "string" });
    Vary::all().map(word).collect()
}
