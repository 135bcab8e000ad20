//! Where a trace goes and as what: tables here, the document for programs, a file by its ending. Must not know what is
//! in it.

use std::path::PathBuf;

use ::report::{Options, SoloFormat};
use analysis::CallsBy;
use findings::TraceContrast;
use samples::Trace;

use super::flags::TraceArgs;
use crate::{output, say};

/// How it is written, and where.
pub(super) struct Written {
    json: bool,
    file: Option<(PathBuf, SoloFormat)>,
    by: CallsBy,
    top: usize,
}

/// By whom calls are told apart: of a virtual machine its threads are what matters.
pub(super) fn by(args: &TraceArgs) -> CallsBy {
    let usual = if args.what.qemu.is_some() { CallsBy::Thread } else { CallsBy::Process };
    args.output.by.unwrap_or(usual)
}

impl Written {
    /// As the flags say; a mistake in them is told before any work.
    pub(super) fn resolved(args: &TraceArgs) -> anyhow::Result<Self> {
        let file = args
            .output
            .output
            .as_ref()
            .map(|path| Ok::<_, anyhow::Error>((path.clone(), output::page_format_of(path)?)));
        Ok(Self {
            json: args.output.json,
            file: file.transpose()?,
            by: by(args),
            top: usize::from(args.output.top),
        })
    }

    pub(super) const fn is_json(&self) -> bool {
        self.json
    }

    /// Writes a trace.
    pub(super) fn write(&self, trace: &Trace) -> anyhow::Result<()> {
        let summary = analysis::trace(trace, self.by);
        self.put(|format, options| match format {
            // Everything that was recorded, so that it can be compared.
            SoloFormat::Json => Ok(serde_json::to_string_pretty(trace)? + "\n"),
            _ => Ok(::report::render_trace(&summary, self.top, format, options)),
        })
    }

    /// Writes what one trace says against another.
    pub(super) fn write_contrast(&self, contrast: &TraceContrast) -> anyhow::Result<()> {
        self.put(|format, options| Ok(::report::render_trace_contrast(contrast, self.top, format, options)))
    }

    fn put(&self, text: impl Fn(SoloFormat, &Options) -> anyhow::Result<String>) -> anyhow::Result<()> {
        if let Some((path, format)) = &self.file {
            output::write(path, &text(*format, &output::in_a_file())?)?;
            say::aside(format_args!("written to {}", path.display()));
        }
        let here = if self.json { SoloFormat::Json } else { SoloFormat::Terminal };
        Ok(say::text(text(here, &output::here())?)?)
    }
}
