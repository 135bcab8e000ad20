//! Tests the charts of whole runs. For any name, no text is cut off or overlaps other text, and no name becomes markup.
//! Values agree with the CSV report.

use std::{collections::BTreeMap, env, fs, path::PathBuf, sync::LazyLock};

use findings::Findings;
use report::{
    Format, Options, Picture, Theme, comparison_pictures, picture_kinds, pictures, render, render_comparison,
};
use resvg::usvg;
use samples::{Arm, RunRecord};
use workload::{Measurement, StreamData};

use crate::sample;

const HOSTILE: [&str; 6] = [
    "<script>alert(1)</script>\" onload=\"x ]]> &amp;",
    "a-very-long-name-without-any-space-in-it-that-goes-on-and-on-and-on",
    "네트워크-속도-테스트-게이트웨이",
    "\u{202e}שלום עולם\u{200b}\u{feff}العربية",
    "\u{1b}[31mred\n\u{9b}2J",
    "",
];

fn runs() -> Vec<Findings> {
    vec![
        sample::findings(),
        sample::engine(),
        sample::sweep::sweep(),
        sample::imported::imported(),
        sample::probed::probed(),
        sample::machines::machines(),
        sample::alternatives::alternatives(),
    ]
}

fn renamed(findings: &Findings, name: &str) -> Findings {
    let mut findings = findings.clone();
    let rename = |text: &mut String| text.insert_str(0, name);
    findings.results.iter_mut().for_each(|result| {
        rename(&mut result.path);
        rename(&mut result.workload);
        result.levels.values_mut().for_each(rename);
    });
    for breakdown in &mut findings.cost_breakdowns {
        rename(&mut breakdown.workload);
        breakdown.steps.iter_mut().for_each(|step| rename(&mut step.path));
    }
    for answer in &mut findings.answers {
        rename(&mut answer.workload);
        rename(&mut answer.path);
        answer.frontier.iter_mut().flat_map(|point| point.levels.values_mut()).for_each(rename);
        answer.recommendations.iter_mut().flat_map(|it| it.levels.values_mut()).for_each(rename);
        answer.knees.iter_mut().for_each(|knee| rename(&mut knee.level));
    }
    findings
}

fn drawn(findings: &Findings) -> Vec<Picture> {
    pictures(findings, Some(&sample::record::record()), &Options::default())
}

/// Options with the widest of the fonts that browsers and `plumb plot` use.
static WITH_FONTS: LazyLock<usvg::Options<'_>> = LazyLock::new(|| {
    let mut options = usvg::Options::default();
    let fonts = options.fontdb_mut();
    for font in [dejavu::sans::regular(), dejavu::sans::bold()] {
        fonts.load_font_data(font.to_vec());
    }
    fonts.set_sans_serif_family("DejaVu Sans");
    "DejaVu Sans".clone_into(&mut options.font_family);
    options
});

fn texts(group: &usvg::Group) -> Vec<(String, usvg::Rect)> {
    let of_node = |node: &usvg::Node| match node {
        usvg::Node::Group(group) => texts(group),
        usvg::Node::Text(text) => {
            let words = text.chunks().iter().map(usvg::TextChunk::text).collect();
            vec![(words, text.flattened().abs_bounding_box())]
        }
        _ => Vec::new(),
    };
    group.children().iter().flat_map(of_node).collect()
}

fn check_texts(what: &str, svg: &str) -> usize {
    let tree = usvg::Tree::from_str(svg, &WITH_FONTS).expect("it is SVG");
    let (width, height) = (tree.size().width(), tree.size().height());
    let texts = texts(tree.root());
    for (index, (text, extent)) in texts.iter().enumerate() {
        assert!(
            extent.left() >= 0.0
                && extent.top() >= 0.0
                && extent.right() <= width
                && extent.bottom() <= height,
            "{what}: `{text}` is cut: {extent:?} of {width} x {height}"
        );
        for (other, its_extent) in &texts[index + 1..] {
            assert!(
                !intersect(extent, its_extent),
                "{what}: `{text}` overlaps `{other}`: {extent:?} {its_extent:?}"
            );
        }
    }
    texts.len()
}

fn intersect(one: &usvg::Rect, other: &usvg::Rect) -> bool {
    one.left() < other.right()
        && other.left() < one.right()
        && one.top() < other.bottom()
        && other.top() < one.bottom()
}

fn inline(page: &str) -> impl Iterator<Item = String> {
    let file = drawn(&sample::findings()).remove(0).svg(Theme::Light);
    let style = file.split_inclusive("</style>").next().and_then(|part| part.split("<style>").nth(1));
    let style = format!("<style>{}", style.expect("it has a style"));
    page.split("<svg ").skip(1).map(move |part| {
        let drawing = part.split("</svg>").next().unwrap_or_default();
        format!("<svg {}</svg>", drawing.replacen("</desc>", &format!("</desc>{style}"), 1))
    })
}

fn scattered(findings: &Findings, seed: u64) -> Findings {
    let mut findings = findings.clone();
    let mut state = seed;
    let mut factor = || {
        // <https://en.wikipedia.org/wiki/Linear_congruential_generator>, with Knuth's constants.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        10_f64.powf((state >> 40) as f64 / f64::from(1 << 22) - 2.0)
    };
    for result in &mut findings.results {
        result.value.estimate *= factor();
        for value in &mut result.values {
            *value = result.value.estimate * factor();
        }
        if let Some(interval) = &mut result.value.interval {
            (interval.low, interval.high) =
                (result.value.estimate * 0.9, result.value.estimate * factor().max(1.0));
        }
    }
    for step in findings.cost_breakdowns.iter_mut().flat_map(|it| &mut it.steps) {
        step.value *= factor();
    }
    for point in findings.answers.iter_mut().flat_map(|it| &mut it.frontier) {
        (point.cpu, point.value) = (point.cpu * factor(), point.value * factor());
    }
    findings
}

#[test]
fn texts_neither_overlap_nor_are_cut_off() {
    let record = sample::record::record();
    for (findings, name) in runs().iter().flat_map(|run| HOSTILE.map(|name| (run, name))) {
        let findings = renamed(findings, name);
        for picture in drawn(&findings) {
            check_texts(&format!("{} {name:?}", picture.kind()), &picture.svg(Theme::Auto));
        }
        let page = render(&findings, Some(&record), Format::Html, &Options::default());
        for svg in inline(&page) {
            check_texts(&format!("in a page, {name:?}"), &svg);
        }
    }
    let comparison = sample::comparison::run_comparison();
    for svg in inline(&render_comparison(&comparison, Format::Html, &Options::default())) {
        check_texts("two runs", &svg);
    }
}

#[test]
fn parts_of_a_text_are_separated_in_png_files() {
    let spans = |picture: &Picture| {
        let svg = picture.svg(Theme::Auto);
        let parts = svg.split("<text ").filter(|part| part.contains("<tspan class=\"faint\"> "));
        parts.map(|part| assert!(part.contains("xml:space=\"preserve\""), "{part}")).count()
    };
    assert!(drawn(&sample::probed::probed()).iter().map(spans).sum::<usize>() > 0, "some start with a space");
}

#[test]
fn texts_of_random_data_neither_overlap_nor_are_cut_off() {
    for (seed, findings) in (0..4).flat_map(|seed| runs().into_iter().map(move |run| (seed, run))) {
        let findings = scattered(&findings, seed);
        let pictures = drawn(&findings);
        let texts = pictures.iter().map(|picture| {
            check_texts(&format!("{} with seed {seed}", picture.kind()), &picture.svg(Theme::Auto))
        });
        assert!(texts.sum::<usize>() > 0, "{} has no text", findings.run.title);
    }
}

#[test]
fn escapes_and_shortens_names_in_charts() {
    let long = "W".repeat(10_000);
    for (findings, name) in
        runs().iter().flat_map(|run| HOSTILE.into_iter().chain([long.as_str()]).map(move |name| (run, name)))
    {
        let page = render(
            &renamed(findings, name),
            Some(&sample::record::record()),
            Format::Html,
            &Options::default(),
        );
        assert_eq!(page.matches("<script").count(), 1, "the page's own");
        for svg in inline(&page) {
            for obeyed in ["onload=\"", "\u{1b}", "\u{9b}", "\u{202e}", "\u{200b}"] {
                assert!(!svg.contains(obeyed), "in a page, {obeyed:?}");
            }
        }
        for picture in drawn(&renamed(findings, name)) {
            let svg = picture.svg(Theme::Auto);
            for obeyed in ["<script", "onload=\"", "\u{1b}", "\u{9b}", "\u{202e}", "\u{200b}"] {
                assert!(!svg.contains(obeyed), "{} {obeyed:?}", picture.kind());
            }
            for element in ["svg", "title", "desc", "style", "text", "g", "defs", "pattern"] {
                let opened = svg.matches(&format!("<{element}>")).count()
                    + svg.matches(&format!("<{element} ")).count();
                assert_eq!(
                    opened,
                    svg.matches(&format!("</{element}>")).count(),
                    "{element} of {}",
                    picture.kind()
                );
            }
            assert!(!svg.contains("NaN") && !svg.contains("inf\""), "{svg}");
        }
    }
}

fn rows(csv: &str) -> Vec<BTreeMap<String, String>> {
    let mut lines = csv.lines().map(fields);
    let head = lines.next().expect("a head");
    lines.map(|row| head.iter().cloned().zip(row).collect()).collect()
}

fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut quoted) = (vec![String::new()], false);
    for sign in line.chars() {
        match sign {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            sign => fields.last_mut().expect("there is one").push(sign),
        }
    }
    fields
}

fn check_data(picture: &Picture, report: &[BTreeMap<String, String>]) -> usize {
    let compared = rows(&picture.csv()).into_iter().map(|row| {
        let mut of_result = report.iter().filter(|it| it["result"] == row["result"]);
        let agreed = of_result.find_map(|told| agreed(picture.kind(), &row, told));
        agreed.unwrap_or_else(|| panic!("{} draws a row missing in the report: {row:?}", picture.kind()))
    });
    compared.sum()
}

fn agreed(kind: &str, row: &BTreeMap<String, String>, told: &BTreeMap<String, String>) -> Option<usize> {
    let mut pairs: Vec<(&String, &String)> =
        row.iter().filter_map(|(column, value)| Some((value, told.get(column)?))).collect();
    let distribution = row.get("distribution").map(String::as_str).unwrap_or_default();
    let prefix = if distribution.ends_with("since intended") { "since_intended" } else { "round_trip" };
    let percentile = row
        .get("share")
        .and_then(|share| [("0.5", "p50"), ("0.99", "p99")].iter().find(|(it, _)| it == share));
    if let Some((_, percentile)) =
        percentile.filter(|_| kind == "percentiles" && !distribution.ends_with("lateness"))
    {
        let told = told.get(&format!("{prefix}_{percentile}_ns")).filter(|told| !told.is_empty());
        pairs.extend(told.map(|told| (&row["time_ns"], told)));
    }
    let consumer = row.get("consumer").and_then(|consumer| told.get(&format!("owner.{consumer}")));
    pairs.extend(consumer.map(|told| (&row["busy_cpus"], told)));
    pairs.iter().all(|(drawn, told)| drawn == told).then_some(pairs.len())
}

#[test]
fn charts_match_report_tables() {
    for findings in runs() {
        let report = rows(&render(&findings, None, Format::Csv, &Options::default()));
        let compared: usize = drawn(&findings)
            .iter()
            .filter(|picture| !["time-series"].contains(&picture.kind()))
            .map(|picture| check_data(picture, &report))
            .sum();
        assert!(compared > 4, "{}: {compared}", findings.run.title);
    }
    let comparison = sample::comparison::run_comparison();
    let report = rows(&render_comparison(&comparison, Format::Csv, &Options::default()));
    assert!(
        comparison_pictures(&comparison).iter().map(|picture| check_data(picture, &report)).sum::<usize>()
            > 4
    );
}

fn stream(record: &RunRecord) -> &StreamData {
    let trial = record.trials.iter().find(|trial| trial.arm == Arm::Measure).expect("one is measured");
    let Measurement::Stream(stream) = &trial.measurement else { panic!("it is a stream's") };
    stream
}

#[test]
fn time_series_matches_the_record() {
    let record = sample::record::record();
    let pictures = drawn(&sample::findings());
    let series = pictures.iter().find(|picture| picture.kind() == "time-series").expect("there is one");
    let rows = rows(&series.csv());
    let flows = &stream(&record).flows;
    let (rates, round_trips) = rows.split_at(flows[0].receiver.intervals.len());
    assert!(round_trips.iter().all(|row| row["series"] == "round trip under load"), "{round_trips:?}");
    for (interval, row) in flows[0].sender.intervals.iter().zip(round_trips) {
        let rtt = interval.tcp.expect("a TCP sample").rtt.0;
        assert_eq!((&row["least"], &row["most"]), (&rtt.to_string(), &rtt.to_string()));
    }
    for (place, row) in rates.iter().enumerate() {
        assert_eq!(row["series"], "throughput");
        let intervals = || flows.iter().map(|flow| &flow.receiver.intervals[place]);
        let rate: f64 = intervals().map(|it| it.bytes.0 as f64 * 8.0 / (it.end - it.start).seconds()).sum();
        for column in ["least", "most"] {
            let drawn: f64 = row[column].parse().expect("a number");
            assert!((drawn / rate - 1.0).abs() < 1e-9, "{column} {drawn} of {rate}");
        }
        let first = intervals().next().expect("a flow");
        assert_eq!(row["start_s"].parse::<f64>().ok(), Some(first.start.seconds()));
        assert_eq!(row["warmup"], first.warmup.to_string());
    }
}

fn numbers(svg: &str, element: &str, attribute: &str) -> Vec<f64> {
    let elements = svg.split('<').filter(|part| part.starts_with(element));
    let value = |part: &str| part.split(&format!(" {attribute}=\"")).nth(1)?.split('"').next()?.parse().ok();
    elements.filter_map(value).collect()
}

#[test]
fn bars_and_dots_match_values() {
    let findings = sample::findings();
    let layers = drawn(&findings).into_iter().find(|it| it.kind() == "layers").expect("it has layers");
    let svg = layers.svg(Theme::Auto);
    let data = rows(&layers.csv());
    let [first, last] = [data.first(), data.last()]
        .map(|row| row.expect("two paths")["value"].parse::<f64>().expect("a number"));
    let wholes = numbers(&svg, "rect class=\"f0\"", "width");
    let share = wholes[wholes.len() - 1] / wholes[1];
    assert!((share - last / first).abs() < 0.01, "{share} and {}", last / first);
    let zero = numbers(&svg, "rect class=\"f0\"", "x")[1];
    let dots: Vec<f64> = numbers(&svg, "circle class=\"dot\"", "cx").into_iter().skip(1).collect();
    let values: Vec<f64> = data
        .iter()
        .flat_map(|row| {
            row["values"].split(' ').map(|it| it.parse().expect("a number")).collect::<Vec<f64>>()
        })
        .collect();
    let nearest = |value: f64| {
        dots.iter().map(|x| ((x - zero) / wholes[1] * first / value - 1.0).abs()).fold(1.0, f64::min)
    };
    assert!(
        !values.is_empty() && values.iter().all(|value| nearest(*value) < 0.02),
        "{values:?} at {dots:?}"
    );
}

#[test]
fn tooltips_match_the_chart_table() {
    let findings = sample::findings();
    let page = render(&findings, Some(&sample::record::record()), Format::Html, &Options::default());
    let layers = page.split("<figure id=\"layers-").nth(1).and_then(|it| it.split("<figcaption").next());
    let layers = layers.expect("it has layers");
    let picture = drawn(&findings).into_iter().find(|it| it.kind() == "layers").expect("the same");
    let values: Vec<f64> = rows(&picture.csv())
        .iter()
        .flat_map(|row| {
            row["values"].split(' ').map(|it| it.parse().expect("a number")).collect::<Vec<f64>>()
        })
        .collect();
    let mut phrase: Vec<f64> = layers
        .split("data-s=\"dot\" data-v=\"")
        .skip(1)
        .map(|it| it.split('"').next().and_then(|it| it.parse().ok()).expect("a number"))
        .collect();
    // The chart is drawn once for screens and once for phones.
    assert_eq!(phrase.len(), values.len() * 2);
    phrase.truncate(values.len());
    let unit = values[0] / phrase[0];
    assert!([1.0, 1e3, 1e6, 1e9].iter().any(|it| (unit / it - 1.0).abs() < 1e-3), "{unit}");
    for (phrase, value) in phrase.iter().zip(&values) {
        assert!((phrase * unit / value - 1.0).abs() < 1e-3, "{phrase} of {value}");
    }
}

#[test]
fn every_chart_kind_is_drawn_with_a_caption() {
    let all: Vec<Picture> = runs()
        .iter()
        .flat_map(drawn)
        .chain(comparison_pictures(&sample::comparison::run_comparison()))
        .collect();
    for (kind, about) in picture_kinds() {
        let picture =
            all.iter().find(|picture| picture.kind() == kind).unwrap_or_else(|| panic!("no {kind}: {about}"));
        let svg = picture.svg(Theme::Auto);
        let phrase = |element: &str| {
            svg.split(&format!("<{element} id=\"p-{}\">", &element[..1])).nth(1).map(|it| it.find('<'))
        };
        assert!(phrase("title").flatten() > Some(4) && phrase("desc").flatten() > Some(20), "{kind}");
        for unit in ["prefers-color-scheme", "viewBox", "role=\"img\""] {
            assert!(svg.contains(unit), "{kind} {unit}");
        }
    }
}

/// If `PLUMB_PICTURES=FOLDER` is set, writes every chart to that folder for inspection.
#[test]
fn two_charts_match_golden_files() {
    if let Ok(folder) = env::var("PLUMB_PICTURES") {
        for (run, findings) in runs().iter().enumerate() {
            for (index, picture) in drawn(findings).iter().enumerate() {
                let path = PathBuf::from(&folder).join(format!("{run}-{index:02}-{}.svg", picture.kind()));
                fs::write(path, picture.svg(Theme::Auto)).expect("writes a picture");
            }
            let page = render(findings, Some(&sample::record::record()), Format::Html, &Options::default());
            fs::write(PathBuf::from(&folder).join(format!("{run}.html")), page).expect("writes a page");
        }
        for (index, picture) in comparison_pictures(&sample::comparison::run_comparison()).iter().enumerate()
        {
            let path = PathBuf::from(&folder).join(format!("9-{index:02}-comparison.svg"));
            fs::write(path, picture.svg(Theme::Auto)).expect("writes a picture");
        }
    }
    let golden = |findings: &Findings, kind: &str| {
        let picture = drawn(findings).into_iter().find(|it| it.kind() == kind).expect("it is drawn");
        crate::golden::check(&format!("{kind}.svg"), &picture.svg(Theme::Light));
        crate::golden::check(&format!("{kind}.csv"), &picture.csv());
    };
    golden(&sample::findings(), "layers");
    golden(&sample::sweep::sweep(), "sweep");
}
