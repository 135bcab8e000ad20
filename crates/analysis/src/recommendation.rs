//! Recommendations from a sweep: knees, Pareto front and settings.

mod choice;
mod cpu;
mod frontier;
mod knees;
mod number;
mod reasons;
mod separation;
mod sweep;

use findings::{Answer, Finding, Findings};

use crate::{commands::Commands, fits::Fits, observations::Observations};

use sweep::Sweep;

pub(crate) fn answers(measured: &[Observations<'_>], fits: &Fits) -> Vec<Answer> {
    let mut places: Vec<(&str, &str)> = Vec::new();
    for result in measured {
        let place = (result.record.workload.as_str(), result.record.path.as_str());
        if !places.contains(&place) {
            places.push(place);
        }
    }
    let sweep = |(workload, path)| Sweep::of(workload, path, measured, fits);
    places.into_iter().filter_map(sweep).map(|sweep| answer(&sweep)).collect()
}

fn answer(sweep: &Sweep<'_>) -> Answer {
    let knees = knees::knees(sweep);
    let frontier = frontier::frontier(sweep);
    Answer {
        workload: sweep.workload.to_owned(),
        path: sweep.path.to_owned(),
        metric: sweep.metric,
        recommendations: choice::recommendations(sweep, &knees, &frontier),
        knees,
        frontier,
        consumers: sweep.consumers.clone(),
    }
}

pub(crate) fn withhold(findings: &mut Findings, commands: &Commands<'_>) {
    let mut answers = std::mem::take(&mut findings.answers);
    for answer in &mut answers {
        for recommendation in &mut answer.recommendations {
            let doubted = findings.distrusting().find(|finding| finding.concerns(&recommendation.result));
            recommendation.withheld =
                doubted.map(|finding| withheld(finding, commands, &answer.path, &answer.workload));
        }
    }
    findings.answers = answers;
}

fn withheld(claim: &Finding, commands: &Commands<'_>, path: &str, workload: &str) -> String {
    let again = commands.again(&format!("--path {path} --workload {workload}"), "--repeat 20");
    let again = again.first().map_or_else(
        || "Repeat the measurement several times.".to_owned(),
        |command| format!("Repeat it: `{command}`."),
    );
    format!("{} {again}", claim.claim())
}

#[cfg(test)]
mod tests;
