//! A temporary directory for the files of a bench.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process,
};

use anyhow::Context;

pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new(bench: &str) -> anyhow::Result<Self> {
        let path = env::temp_dir().join(format!("plumb-bench-{}-{bench}", process::id()));
        fs::create_dir(&path).with_context(|| format!("make {}", path.display()))?;
        Ok(Self(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
