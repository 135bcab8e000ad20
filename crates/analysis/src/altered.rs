//! Tests the analysis with impossible records, because agents, files and shared stores are not trusted.

use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
};

use samples::RunRecord;
use serde_json::{Value, json};

use crate::{analyse, comparison, gate, run_results};

const RUN: &str = include_str!("../tests/golden/egress.run.json");

/// Returns the JSON pointers of all numbers, grouped. Pointers in a group differ only in array indexes.
fn numbers(value: &Value) -> Vec<Vec<String>> {
    fn walk(value: &Value, place: &str, kind: &str, found: &mut Vec<(String, String)>) {
        match value {
            Value::Number(_) => found.push((kind.to_owned(), place.to_owned())),
            Value::Array(all) => {
                for (index, inner) in all.iter().enumerate() {
                    walk(inner, &format!("{place}/{index}"), &format!("{kind}/*"), found);
                }
            }
            Value::Object(all) => {
                for (key, inner) in all {
                    let key = key.replace('~', "~0").replace('/', "~1");
                    walk(inner, &format!("{place}/{key}"), &format!("{kind}/{key}"), found);
                }
            }
            _ => {}
        }
    }
    let (mut found, mut kinds) = (Vec::new(), BTreeMap::<String, Vec<String>>::new());
    walk(value, "", "", &mut found);
    found.into_iter().for_each(|(kind, place)| kinds.entry(kind).or_default().push(place));
    kinds.into_values().collect()
}

#[test]
fn altered_numbers_never_cause_a_panic() {
    let whole: Value = serde_json::from_str(RUN).expect("JSON");
    let read = |value: &Value| RunRecord::read(&value.to_string());
    let reference = read(&whole).expect("the golden run can be read");
    let (kinds, mut failed, mut analysed) = (numbers(&whole), Vec::new(), 0);
    let places: Vec<&[String]> = kinds.iter().flat_map(|all| [&all[all.len() - 1..], &all[..]]).collect();
    for places in &places {
        for number in
            [json!(0), json!(1), json!(u32::MAX), json!(u64::MAX), json!(-1), json!(i64::MIN), json!(1e308)]
        {
            let mut altered = whole.clone();
            for place in *places {
                *altered.pointer_mut(place).expect("it was found there") = number.clone();
            }
            let Ok(record) = read(&altered) else { continue };
            analysed += 1;
            let judge = || {
                let findings = analyse(&record);
                assert!(serde_json::to_string(&findings).is_ok());
                let comparison = comparison(&reference, &record, &[]);
                let _ = (gate(&comparison, 0.05, findings::GuardLimits::default()), run_results(&record));
            };
            if catch_unwind(AssertUnwindSafe(judge)).is_err() {
                failed.push(format!("{} of {} = {number}", places.len(), places[0]));
            }
        }
    }
    assert!(failed.is_empty(), "{} of {analysed}: {failed:#?}", failed.len());
    assert!(analysed > places.len(), "{analysed} of {} places", places.len());
}
