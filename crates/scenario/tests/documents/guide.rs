//! Checks that the examples in the guide are valid.

use scenario::Scenario;

const GUIDE: &str = include_str!("../../../../docs/guide/scenarios.md");

fn examples() -> impl Iterator<Item = &'static str> {
    GUIDE.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next())
}

#[test]
fn smallest_example_of_guide_parses() {
    let whole = examples()
        .find(|example| example.starts_with("schema = 1"))
        .expect("the guide has a complete example");
    let scenario = Scenario::parse("guide", whole).expect("the example parses");
    assert_eq!(scenario.paths.len(), 1);
}

#[test]
fn fragments_of_guide_parse() {
    let quick = scenario::builtin::find("quick").expect("built in").text;
    let (before, after) = quick.split_once("[paths.pod-to-target]").expect("a path of that name");
    let rest = after.split_once("# Both ends are pinned").expect("workloads after it").1;
    let rest = rest.split_once("[schedule]").expect("the schedule comes last").0;
    let parts: String = examples().filter(|example| !example.starts_with("schema = 1")).collect();
    let text = format!("{before}# {rest}{parts}");
    let scenario = Scenario::parse("guide", &text).unwrap_or_else(|diagnosis| {
        panic!("{:#?}", diagnosis.problems().collect::<Vec<_>>());
    });
    assert_eq!((scenario.factors.len(), scenario.schedule.seed), (4, Some(42)));
    assert!(scenario.schedule.design.is_adaptive());
}

#[test]
fn guide_lists_all_factors() {
    let table = GUIDE.split("| `vary` | values | set on |").nth(1).expect("the guide has the table");
    let table = table.split("\n\n").next().expect("the table has rows");
    let words = scenario::schema()["$defs"]["VaryWord"]["oneOf"].as_array().expect("a list").clone();
    for word in words.iter().filter_map(|word| word["const"].as_str()) {
        assert!(table.contains(&format!("`{word}`")), "{word} is not in {table}");
    }
}
