//! Reads device settings.

use std::ops::Range;

use crate::{
    diagnosis::Problem,
    document::DeviceTable,
    lab::{DeviceSettingKind, DeviceSettings},
    nearest,
};

pub(crate) fn device_settings(table: &DeviceTable) -> (DeviceSettings, Vec<Problem>) {
    let (mut settings, mut problems) = (DeviceSettings::default(), Vec::new());
    let words = || DeviceSettingKind::ALL.into_iter().flat_map(DeviceSettingKind::words);
    for word in words() {
        for (_, value) in table.settings.iter().filter(|(key, _)| key.get_ref() == word.word) {
            match word.read(&value.0.0, value.span()) {
                Ok(one) => settings.put(&one),
                Err(problem) => problems.push(problem),
            }
        }
    }
    for (key, _) in table.settings.iter().filter(|(key, _)| !words().any(|word| word.word == key.get_ref())) {
        let help = nearest::advice(key, "keys", words().map(|word| word.word));
        let message = format!("unknown key `{key}`");
        problems.push(Problem::new(key.span(), message, "not a key here").help(help));
    }
    (settings, problems)
}

pub(crate) fn place(table: &DeviceTable, kind: DeviceSettingKind) -> Option<Range<usize>> {
    let sets = |key: &str| kind.words().iter().any(|word| word.word == key);
    table.settings.iter().rfind(|(key, _)| sets(key)).map(|(_, value)| value.span())
}
