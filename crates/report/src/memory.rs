//! The page of the memory rebalancer.

use findings::{MemorySummary, VmMemory};
use units::Share;

use crate::{
    harmless::in_a_line,
    page::{Page, *},
    pictures::fast_memory,
};

type Build = fn(&MemorySummary) -> Option<Section>;

const ORDER: &[Build] = &[answer, arms, moves];

pub(crate) fn page(summary: &MemorySummary) -> Page {
    Page {
        title: in_a_line(&summary.title),
        sections: ORDER.iter().filter_map(|build| build(summary)).collect(),
    }
}

fn answer(summary: &MemorySummary) -> Option<Section> {
    let blocks: Vec<Block> =
        summary.answer.iter().map(|line| Block::Paragraph(Text::from(line.as_str()))).collect();
    (!blocks.is_empty()).then(|| Section { title: None, ..section("", blocks) })
}

fn arms(summary: &MemorySummary) -> Option<Section> {
    let columns = vec![left("Policy"), left("Machine"), right("Served"), right("Fast memory")];
    let share =
        |share: Option<Share>| Text::from(share.map_or_else(|| "-".to_owned(), |share| share.to_string()));
    let mut rows = Vec::new();
    for arm in &summary.arms {
        for (place, vm) in arm.vms.iter().enumerate() {
            let name = if place == 0 { arm.name.as_str() } else { "" };
            let row =
                vec![Text::strong(name), Text::from(vm.name.as_str()), share(vm.hits), Text::from(sizes(vm))];
            rows.push(row);
        }
    }
    let charts = fast_memory::build(summary).into_iter().map(|chart| Block::Chart(Box::new(chart)));
    let table = Block::Table(Table { columns, rows, caption: None });
    (!summary.arms.is_empty()).then(|| section("Machines", charts.chain([table]).collect()))
}

fn sizes(vm: &VmMemory) -> String {
    let sizes = || vm.looks.iter().filter_map(|look| look.fast);
    match (sizes().min(), sizes().max()) {
        (Some(least), Some(most)) if least == most => least.to_string(),
        (Some(least), Some(most)) => format!("{least} to {most}"),
        _ => "-".to_owned(),
    }
}

fn moves(summary: &MemorySummary) -> Option<Section> {
    let rows: Vec<Vec<Text>> = summary
        .moves
        .iter()
        .map(|made| vec![Text::from(made.at.to_string()), Text::from(made.action.as_str())])
        .collect();
    let columns = vec![right("After"), left("Move")];
    (!rows.is_empty()).then(|| detail("Moves", vec![Block::Table(Table { columns, rows, caption: None })]))
}

#[cfg(test)]
mod tests {
    use findings::{MEMORY_SCHEMA, MemoryArm, MemoryLook, MemoryMove};
    use units::{Bytes, Nanos};

    use super::*;
    use crate::{Options, SingleFormat, memory_pictures, render_memory};

    fn of(name: &str, hits: f64) -> MemoryArm {
        let look = |second: u64| MemoryLook {
            at: Nanos(second * 1_000_000_000),
            fast: Some(Bytes((128 + second) << 20)),
            hits: Some(Share(hits)),
        };
        MemoryArm::of(name, vec![VmMemory::of("web".to_owned(), vec![look(0), look(1), look(2)])])
    }

    fn summary() -> MemorySummary {
        MemorySummary {
            schema: MEMORY_SCHEMA,
            title: "Ways of sharing fast memory out".to_owned(),
            answer: vec!["The rebalancer came 80 % of the way.".to_owned()],
            arms: vec![of("static halves", 0.5), of("rebalancer", 0.9)],
            moves: vec![MemoryMove {
                at: Nanos(1_000_000_000),
                action: "web: DRAM 1 GiB to <2> GiB".to_owned(),
            }],
        }
    }

    #[test]
    fn all_formats_have_answer_shares_and_moves() {
        for format in [SingleFormat::Terminal, SingleFormat::Markdown, SingleFormat::Html] {
            let text = render_memory(&summary(), format, &Options::default());
            for phrase in ["80 % of the way", "static halves", "50.0 %", "90.0 %"] {
                assert!(text.contains(phrase), "{format:?} lacks {phrase}: {text}");
            }
            assert_eq!(text.contains("DRAM 1"), format != SingleFormat::Terminal, "{text}");
        }
        let page = render_memory(&summary(), SingleFormat::Html, &Options::default());
        assert!(page.contains("<svg") && page.contains("accesses served by fast memory"));
    }

    #[test]
    fn charts_include_every_sample() {
        let pictures = memory_pictures(&summary());
        assert_eq!(
            pictures.iter().map(crate::Picture::kind).collect::<Vec<_>>(),
            ["fast-memory-hits", "fast-memory-sizes"]
        );
        assert_eq!(pictures[0].csv().lines().count(), 1 + 2 * 3);
        let mut unknown = summary();
        for vm in unknown.arms.iter_mut().flat_map(|arm| &mut arm.vms) {
            vm.looks.iter_mut().for_each(|look| look.hits = None);
        }
        assert_eq!(memory_pictures(&unknown).len(), 1, "unknown values are not drawn");
    }
}
