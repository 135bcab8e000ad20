//! The findings of a run, produced by `analysis` and displayed by `report`.

mod alternatives;
mod answer;
mod claim;
mod comparison;
mod comparison_verdict;
mod cost_breakdown;
mod distribution;
mod document;
mod estimate;
mod evidence;
mod history;
mod latency;
mod memory;
mod number;
mod packets;
mod pair_matrix;
mod phrase;
mod probed;
mod requirement;
mod result;
mod single;
mod stream;
mod trace;
mod trade_offs;
mod verdict;
mod vm;

pub use alternatives::{MatchedPair, MatchedPairs, Rank, Ranking};
pub use answer::{Answer, FrontierPoint, Knee, Recommendation};
pub use claim::{Change, Finding, Remedy, RemedyEffect, Role, Sentence, Severity, Statement};
pub use comparison::{
    BetweenRuns, BoundedValue, COMPARISON_SCHEMA, EnvironmentChange, Gate, GateOutcome, GuardComparison,
    GuardLimits, OpenQuestion, ResultComparison, RunComparison,
};
pub use comparison_verdict::*;
pub use cost_breakdown::{CostBreakdown, CostStep, FactorEffect};
pub use distribution::{Bucket, Distribution, Percentile};
pub use document::{Findings, RunSummary, SCHEMA};
pub use estimate::{
    Basis, Comparison, Difference, Estimate, FEWEST_TO_ESTABLISH, Interval, NoiseFloor, SEVERAL, change,
};
pub use evidence::Evidence;
pub use history::{ResultHistory, RunLevel, RunLevelShift, RunResult, RunResults};
pub use latency::{ConnectSummary, LatencySummary, OpenLoopSummary};
pub use memory::{MEMORY_SCHEMA, MemoryArm, MemoryLook, MemoryMove, MemorySummary, VmMemory};
pub use number::{Number, Unit};
pub use packets::{DataPackets, DevicePackets, PacketCut, PacketSize, PacketSummary};
pub use pair_matrix::{Contamination, HostPair, PairMatrix};
pub use phrase::{Part, PartKind, Phrase};
pub use probed::{
    CallRates, ConsumerPart, ConsumerTime, CpuAttribution, CpuProbeCost, EndCalls, FailedProbe, GuestTime,
    LatencyBreakdown, Leg, MachineTimes, ProbeCost, ProbedSummary, ProcessCalls, RunProbes, StepKind,
    StepSummary,
};
pub use requirement::{RequiredQuantity, Requirement, UnknownRequirement};
pub use result::*;
pub use samples::Objective;
pub use single::{
    SINGLE_SCHEMA, SingleConnect, SingleFlow, SingleLevels, SingleMeasurement, SingleOutcome, SingleRate,
    SingleStream, Spread,
};
pub use stream::{DatagramSummary, StreamSummary, TcpSummary};
pub use trace::{
    CallComparison, ConsumerComparison, PtraceCost, TRACE_COMPARISON_SCHEMA, TraceComparison, TraceSummary,
    TracedCall, TracedCpu, TracedPace, TracedShare,
};
pub use trade_offs::{Compliance, Configuration, Judgement, TradeOffs, UnclearReason};
pub use verdict::*;
pub use vm::{VM_SCHEMA, VmRoleCpu, VmSummary};
pub use workload::{GuardedMetric, Metric};
