//! Writes a trace to the terminal or a file, in the selected format.

use std::path::PathBuf;

use ::report::{Options, SingleFormat};
use analysis::CallGrouping;
use anyhow::Result;
use findings::TraceComparison;
use samples::Trace;

use super::flags::TraceArgs;
use crate::{destination, output};

pub(super) struct Destination {
    json: bool,
    file: Option<(PathBuf, SingleFormat)>,
    by: CallGrouping,
    top: usize,
}

pub(super) fn grouping(args: &TraceArgs) -> CallGrouping {
    let usual = if args.what.qemu.is_some() { CallGrouping::Thread } else { CallGrouping::Process };
    args.output.by.unwrap_or(usual)
}

impl Destination {
    pub(super) fn resolved(args: &TraceArgs) -> Result<Self> {
        let file = args
            .output
            .output
            .as_ref()
            .map(|path| Ok::<_, anyhow::Error>((path.clone(), destination::page_format_of(path)?)));
        Ok(Self {
            json: args.output.json,
            file: file.transpose()?,
            by: grouping(args),
            top: usize::from(args.output.top),
        })
    }

    pub(super) const fn is_json(&self) -> bool {
        self.json
    }

    pub(super) fn write(&self, trace: &Trace) -> Result<()> {
        let summary = analysis::trace(trace, self.by);
        self.put(|format, options| match format {
            SingleFormat::Json => Ok(serde_json::to_string_pretty(trace)? + "\n"),
            _ => Ok(::report::render_trace(&summary, self.top, format, options)),
        })
    }

    pub(super) fn write_comparison(&self, comparison: &TraceComparison) -> Result<()> {
        self.put(|format, options| {
            Ok(::report::render_trace_comparison(comparison, self.top, format, options))
        })
    }

    fn put(&self, text: impl Fn(SingleFormat, &Options) -> Result<String>) -> Result<()> {
        if let Some((path, format)) = &self.file {
            destination::write(path, &text(*format, &destination::in_a_file())?)?;
            output::aside(format_args!("written to {}", path.display()));
        }
        let here = if self.json { SingleFormat::Json } else { SingleFormat::Terminal };
        Ok(output::coloured(&text(here, &destination::here())?)?)
    }
}
