//! Comparisons as JSON, with all pairs.

use serde_json::{Value, json};

use crate::{
    comparison::{Comparison, ExtraValue, Spread},
    environment::Environment,
};

/// `version` changes if the meaning of a field changes.
pub(crate) fn text(environment: &Environment, comparisons: &[Comparison]) -> String {
    let document = json!({
        "version": 2,
        "environment": {
            "kernel": environment.kernel,
            "cpus": environment.cpus,
            "load_average": environment.load,
            "congestion_default": environment.congestion,
            "peers": environment.peers,
        },
        "comparisons": comparisons.iter().map(comparison).collect::<Vec<_>>(),
    });
    format!("{document:#}")
}

fn comparison(it: &Comparison) -> Value {
    let interval = it.ratio.and_then(|ratio| ratio.interval);
    json!({
        "bench": it.name,
        "what": it.what,
        "unit": it.unit,
        "ours": it.ours,
        "peer": it.peer,
        "pairs": it.pairs.iter().map(|(peer, ours)| json!({ "peer": peer, "ours": ours })).collect::<Vec<_>>(),
        "ratio": it.ratio.map(|ratio| ratio.value),
        "interval": interval.map(|it| json!({ "low": it.low, "high": it.high, "confidence": it.confidence })),
        "target": { "least": it.target.least, "most": it.target.most },
        "verdict": it.verdict().word(),
        "spread": { "ours": it.our_spread().map(spread), "peer": it.peer_spread().map(spread) },
        "warnings": it.unsteady().map(|(name, spread)| json!({
            "kind": "unsteady", "who": name, "most_over_least": spread.width(),
        })).collect::<Vec<_>>(),
        "beside": it.extra.iter().map(extra).collect::<Vec<_>>(),
        "others": { "busy_cpus": it.others.busy(), "stolen_cpus": it.others.stolen(), "quiet": it.others.were_quiet() },
        "our_failure": it.our_failure,
        "failure": it.failure,
    })
}

fn spread(it: Spread) -> Value {
    json!({ "least": it.least, "median": it.median, "most": it.most })
}

fn extra(it: &ExtraValue) -> Value {
    json!({ "what": it.what, "ours": it.ours, "peer": it.peer })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        comparison::{Pairing, Subject, compare},
        rounds::{Measured, Taken},
        target::Target,
    };

    #[test]
    fn document_has_all_pairs_and_the_interval() {
        const PAIRING: Pairing = Pairing { ours: "plumb", peer: "peer", targets: &[Target::at_most(0.5)] };
        let taken = |name, values: &[f64]| Taken {
            name,
            rounds: values
                .iter()
                .map(|value| Measured { values: vec![*value], extra: vec![("% lost", 0.5)] })
                .collect(),
            ..Taken::default()
        };
        let all = [taken("plumb", &[1.0, 2.0]), taken("peer", &[4.0, 8.0])];
        let subject = Subject { name: "frob", what: "frobs", units: &["ms"] };
        let document: Value =
            serde_json::from_str(&text(&Environment::default(), &compare(&subject, &[PAIRING], &all)))
                .unwrap();
        let row = &document["comparisons"][0];
        assert_eq!(row["pairs"], json!([{ "peer": 4.0, "ours": 1.0 }, { "peer": 8.0, "ours": 2.0 }]));
        assert!((row["ratio"].as_f64().unwrap() - 0.25).abs() < 1e-9, "{row}");
        assert_eq!(row["interval"]["confidence"], json!(0.5));
        assert_eq!((&row["target"]["least"], &row["verdict"]), (&Value::Null, &json!("unclear")));
        assert_eq!(row["spread"]["peer"], json!({ "least": 4.0, "median": 6.0, "most": 8.0 }));
        let warned: Vec<_> =
            row["warnings"].as_array().unwrap().iter().map(|warning| &warning["who"]).collect();
        assert_eq!(warned, [&json!("plumb"), &json!("peer")]);
        assert_eq!(row["beside"], json!([{ "what": "% lost", "ours": 0.5, "peer": 0.5 }]));
        assert_eq!(row["others"]["quiet"], json!(true));
    }
}
