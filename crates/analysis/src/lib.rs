//! Turns samples into results, cost breakdowns, factor effects and findings.
//!
//! Equal records give equal findings. This crate chooses the comparisons; `stats` provides the formulas.

#[cfg(test)]
mod altered;
mod analyse;
mod bisection;
mod commands;
mod compare;
mod comparison;
#[cfg(test)]
mod consistency;
mod cost_breakdown;
mod counters;
mod cpu;
mod cpu_attribution;
mod distribution;
mod disturbance;
mod effects;
mod fits;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod golden;
mod guest_cpu;
mod hints;
mod history;
mod instructions;
#[cfg(test)]
mod judged;
mod kind;
mod limitations;
mod matched_pairs;
mod modality;
mod observations;
mod order;
mod packets;
mod pair_matrix;
mod probed;
mod ranking;
mod recommendation;
mod remedies;
mod remedy_results;
#[cfg(test)]
mod renamed;
mod results;
mod rule;
mod rules;
mod series;
mod single_measurement;
mod single_trial;
mod sockets;
mod steadiness;
mod syscalls;
mod trace;
mod trade_offs;
mod verdict;
mod warnings;
mod words;
mod workload_summary;

pub use analyse::analyse;
pub use bisection::{Bisection, Step, most_different, most_midpoints};
pub use comparison::{MAX_LOSS, MAX_LOSS_OF_COUNTS, comparison, gate};
pub use hints::offloads_off;
pub use history::{FEWEST_RUNS, history, newly_worse, run_results};
pub use remedies::PlatformSetting;
pub use remedy_results::remedy_results;
pub use single_measurement::{Single, single_measurement};
pub use trace::{CallGrouping, observed_since, trace, trace_comparison, vm};
pub use trade_offs::trade_offs;
