//! Charts of whole runs: for any names, no text is cut off or overlaps other text, no name becomes markup, and the
//! values agree with the CSV report.

use std::{collections::BTreeMap, env, fs, path::PathBuf};

use console::measure_text_width;
use findings::Findings;
use report::{
    Format, Options, Picture, Theme, comparison_pictures, picture_kinds, pictures, render, render_comparison,
};
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

#[derive(Debug)]
struct Shown(f64, f64, f64, f64, String);

fn texts(svg: &str) -> Vec<Shown> {
    let sizes: BTreeMap<&str, f64> = [("t", 13.0), ("l", 13.0), ("n", 12.0), ("k", 11.0)].into();
    let parts = svg.split("<text ").skip(1);
    parts
        .map(|part| {
            let (attributes, rest) = part.split_once('>').expect("a tag ends");
            let (content, _) = rest.split_once("</text>").expect("an element ends");
            let attribute = |name: &str| {
                attributes.split(&format!("{name}=\"")).nth(1).and_then(|it| it.split('"').next())
            };
            let number =
                |name: &str| attribute(name).and_then(|it| it.parse::<f64>().ok()).expect("a number");
            let class = attribute("class").and_then(|it| it.split(' ').next()).expect("a class");
            let text = unescaped(&without_tags(content));
            let wide = measure_text_width(&text) as f64 * sizes[class] * 0.48;
            let (x, y) = (number(" x"), number(" y"));
            let left = match attribute("text-anchor") {
                Some("middle") => x - wide / 2.0,
                Some("end") => x - wide,
                _ => x,
            };
            Shown(left, y - sizes[class] * 0.75, left + wide, y + sizes[class] * 0.2, text)
        })
        .collect()
}

fn without_tags(content: &str) -> String {
    let mut inside = false;
    let keep = |sign: &char| {
        let shown = !inside && *sign != '<';
        inside = match sign {
            '<' => true,
            '>' => false,
            _ => inside,
        };
        shown
    };
    content.chars().filter(keep).collect::<String>()
}

fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

fn view_box(svg: &str) -> (f64, f64) {
    let numbers = svg.split("viewBox=\"0 0 ").nth(1).and_then(|it| it.split('"').next()).expect("a view box");
    let (width, height) = numbers.split_once(' ').expect("two numbers");
    (width.parse().expect("a width"), height.parse().expect("a height"))
}

fn check_texts(what: &str, svg: &str) {
    let (width, height) = view_box(svg);
    let texts = texts(svg);
    for (index, text) in texts.iter().enumerate() {
        let Shown(left, top, right, bottom, phrase) = text;
        assert!(
            *left >= -1.0 && *top >= 0.0 && *right <= width + 1.0 && *bottom <= height,
            "{what}: `{phrase}` is cut: {text:?}"
        );
        for other in &texts[index + 1..] {
            let apart = left >= &other.2 || &other.0 >= right || top >= &other.3 || &other.1 >= bottom;
            assert!(
                apart || phrase.trim().is_empty() || other.4.trim().is_empty(),
                "{what}: {text:?} overlaps {other:?}"
            );
        }
    }
}

fn inline(page: &str) -> impl Iterator<Item = &str> {
    page.split("<svg ").skip(1).map(|part| part.split("</svg>").next().unwrap_or_default())
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
            check_texts(&format!("in a page, {name:?}"), svg);
        }
    }
    let comparison = sample::comparison::run_comparison();
    for svg in inline(&render_comparison(&comparison, Format::Html, &Options::default())) {
        check_texts("two runs", svg);
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

/// Returns the number of fields compared.
fn check_data(picture: &Picture, report: &[BTreeMap<String, String>]) -> usize {
    let compared = rows(&picture.csv()).into_iter().map(|row| {
        // Some hand-written results share an ID.
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
    assert_eq!(rows.len(), flows[0].receiver.intervals.len());
    for (place, row) in rows.iter().enumerate() {
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

/// `PLUMB_PICTURES=FOLDER` writes every chart to that folder for inspection.
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
