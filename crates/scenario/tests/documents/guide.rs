//! The examples of the guide are what this program reads.

use scenario::Scenario;

const GUIDE: &str = include_str!("../../../../docs/guide/scenarios.md");

fn examples() -> impl Iterator<Item = &'static str> {
    GUIDE.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next())
}

#[test]
fn the_smallest_scenario_of_the_guide_is_one() {
    let whole = examples().find(|example| example.starts_with("schema = 1")).expect("a whole example");
    let scenario = Scenario::parse("guide", whole).expect("it parses");
    assert_eq!(scenario.paths.len(), 1);
}

/// The other examples are parts: put in place of those of a shipped scenario, they must be understood.
#[test]
fn the_parts_of_the_guide_fit_into_a_scenario() {
    let quick = scenario::builtin::find("quick").expect("shipped").text;
    let (before, after) = quick.split_once("[paths.pod-to-target]").expect("a path of that name");
    let rest = after.split_once("# Both ends are pinned").expect("workloads after it").1;
    let rest = rest.split_once("[schedule]").expect("the schedule comes last").0;
    let parts: String = examples().filter(|example| !example.starts_with("schema = 1")).collect();
    let text = format!("{before}# {rest}{parts}");
    let scenario = Scenario::parse("guide", &text).unwrap_or_else(|diagnosis| {
        panic!("{:#?}", diagnosis.problems().collect::<Vec<_>>());
    });
    assert_eq!((scenario.factors.len(), scenario.schedule.seed), (3, Some(42)));
    assert!(scenario.schedule.design.is_adaptive());
}

/// Every word that a device can be set by and a factor can vary is in the guide's table of factors.
#[test]
fn the_guide_lists_every_word_that_can_be_varied() {
    let table = GUIDE.split("| `vary` | values | set on |").nth(1).expect("a table");
    let table = table.split("\n\n").next().expect("its rows");
    let words = scenario::schema()["$defs"]["VaryWord"]["oneOf"].as_array().expect("a list").clone();
    for word in words.iter().filter_map(|word| word["const"].as_str()) {
        assert!(table.contains(&format!("`{word}`")), "{word} is not in {table}");
    }
}
