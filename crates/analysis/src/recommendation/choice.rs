//! Chooses a setting for each objective. `reasons` has the wording.

use crate::order::ByNumber;
use findings::{FrontierPoint, Knee, Objective, Recommendation};
use stats::Level;

use super::{
    reasons,
    separation::Apart,
    sweep::{Choice, Setting, Sweep},
};
use crate::compare::CONFIDENCE;

pub(super) fn recommendations(
    sweep: &Sweep<'_>,
    knees: &[Knee],
    frontier: &[FrontierPoint],
) -> Vec<Recommendation> {
    let choices = [
        most(sweep),
        by_cpu(sweep, Objective::Efficient, |setting| setting.efficiency()),
        by_cpu(sweep, Objective::LowCpu, thrift),
    ];
    let to_recommendation = |choice: Choice| {
        let setting = &sweep.settings[choice.chosen];
        let id = |place: &usize| sweep.settings[*place].result.id.clone();
        Recommendation {
            objective: choice.objective,
            result: setting.result.id.clone(),
            levels: setting.result.levels.clone(),
            value: setting.value,
            cpu: setting.cpu.as_ref().map(|cpu| cpu.total),
            reason: reasons::sentences(sweep, &choice, knees, frontier),
            ties: choice.ties.iter().map(id).collect(),
            withheld: None,
        }
    };
    choices.into_iter().flatten().map(to_recommendation).collect()
}

fn most(sweep: &Sweep<'_>) -> Option<Choice> {
    let goods: Vec<(f64, Vec<f64>)> =
        sweep.settings.iter().map(|setting| (setting.good(), setting.goods.clone())).collect();
    let apart = Apart::of(&goods);
    let best = apart.best()?;
    let alike: Vec<usize> = (0..goods.len()).filter(|place| apart.is_like(*place, best)).collect();
    let cost = |place: &usize| sweep.settings[*place].cpu.as_ref().map(|cpu| cpu.total);
    let priced = alike.iter().filter_map(|place| Some((*place, cost(place)?)));
    let cheapest = priced.smallest(|one| one.1);
    let chosen = cheapest.map_or(best, |(place, _)| place);
    Some(Choice {
        objective: Objective::Max,
        chosen,
        considered: (0..goods.len()).collect(),
        ties: alike.into_iter().filter(|place| *place != chosen).collect(),
        tolerance: apart.tolerance(),
    })
}

type Score = (f64, Vec<f64>);

fn by_cpu(
    sweep: &Sweep<'_>,
    objective: Objective,
    score: fn(&Setting<'_>) -> Option<Score>,
) -> Option<Choice> {
    let best = sweep.settings.iter().largest(|one| one.good())?;
    let near =
        |setting: &Setting<'_>| setting.cpu.is_some() && is_within(setting, best, objective.least_share());
    let considered: Vec<usize> =
        (0..sweep.settings.len()).filter(|place| near(&sweep.settings[*place])).collect();
    let scores: Vec<Score> =
        considered.iter().map(|place| score(&sweep.settings[*place]).unwrap_or_default()).collect();
    let apart = Apart::of(&scores);
    let first = apart.best()?;
    let ties = (0..scores.len()).filter(|other| *other != first && apart.is_like(*other, first));
    Some(Choice {
        objective,
        chosen: considered[first],
        ties: ties.map(|place| considered[place]).collect(),
        considered,
        tolerance: apart.tolerance(),
    })
}

/// The lower end of the ratio's interval must reach the fraction `share`. If there is no interval, the ratio itself
/// must reach it.
fn is_within(setting: &Setting<'_>, best: &Setting<'_>, share: f64) -> bool {
    if setting.result.id == best.result.id {
        return true;
    }
    let ratio = || Level::of(&setting.goods)?.ratio(&Level::of(&best.goods)?, CONFIDENCE)?.interval;
    let least = ratio().map_or(setting.good() / best.good(), |interval| interval.low);
    least >= share
}

fn thrift(setting: &Setting<'_>) -> Option<(f64, Vec<f64>)> {
    let cpu = setting.cpu.as_ref()?;
    Some((cpu.total.recip(), cpu.trials.iter().map(|cpu| cpu.recip()).collect()))
}
