//! Imports logs from memory in the same way as the command line.

use std::convert::Infallible;

use import::{Assembler, Meta, Options, read};
use samples::{RunHeader, RunId, Trial, UnixMillis};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Run {
    pub(crate) header: RunHeader,
    pub(crate) trials: Vec<Trial>,
}

impl Run {
    pub(crate) fn notes(&self) -> &[String] {
        &self.header.origin.imported().expect("imported").notes
    }

    pub(crate) fn trials_of(&self, cell: &str) -> Vec<&Trial> {
        self.trials.iter().filter(|trial| trial.result == cell).collect()
    }
}

pub(crate) fn import(names: &[&str]) -> Run {
    let texts: Vec<Vec<u8>> = names
        .iter()
        .map(|name| {
            std::fs::read(format!("tests/data/{name}")).unwrap_or_else(|error| panic!("{name}: {error}"))
        })
        .collect();
    let files: Vec<(&str, &[u8])> = names.iter().copied().zip(texts.iter().map(Vec::as_slice)).collect();
    import_texts(&files).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn import_texts(files: &[(&str, &[u8])]) -> Result<Run, String> {
    import_with(files, &Options::default(), &meta())
}

pub(crate) fn import_with(files: &[(&str, &[u8])], options: &Options, meta: &Meta) -> Result<Run, String> {
    let mut assembler = Assembler::new(meta.clone());
    let mut trials = Vec::new();
    for (name, text) in files {
        assembler.file(name);
        let mut input = *text;
        let report = read::<Infallible>(name, &mut input, options, &mut |found| {
            trials.extend(assembler.take(found).into_iter().map(|done| done.trial));
            Ok(())
        });
        assembler.read(report.map_err(|error| error.to_string())?);
    }
    let assembled = assembler.finish();
    assembled.bounds.map_err(|error| error.to_string())?;
    trials.extend(assembled.rest.into_iter().map(|done| done.trial));
    Ok(Run { header: assembled.header, trials })
}

pub(crate) fn meta() -> Meta {
    Meta {
        id: RunId("import-1".to_owned()),
        name: "import".to_owned(),
        title: None,
        tool: "0.0.0".to_owned(),
        now: UnixMillis(0),
        together: false,
        tables: false,
    }
}
