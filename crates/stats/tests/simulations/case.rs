//! A claim about a method that data sets of known truth can refute. Knows no method.

use crate::draws::Draws;

type Once = dyn Fn(&mut Draws) -> Option<bool>;

/// Where the data sets begin, unless another seed is asked for: not where they began when the methods were chosen.
pub(crate) const SEED: u64 = 7;

/// How often something happens.
pub(crate) struct Case {
    /// The method.
    pub(crate) method: &'static str,
    /// What the data are.
    pub(crate) data: String,
    /// The least and the largest share that is claimed; `None` for a figure that is no claim.
    pub(crate) claim: Option<(f64, f64)>,
    /// The least share of data sets to which the method has an answer.
    pub(crate) answers: f64,
    once: Box<Once>,
}

/// What data sets showed.
pub(crate) struct Shown {
    /// The share in which it happened, of those with an answer.
    pub(crate) share: f64,
    /// The share with an answer.
    pub(crate) answered: f64,
}

impl Case {
    /// `once` tells of one data set whether it happened; `None` when the method gave no answer.
    pub(crate) fn new(
        method: &'static str,
        data: impl Into<String>,
        claim: (f64, f64),
        once: impl Fn(&mut Draws) -> Option<bool> + 'static,
    ) -> Self {
        Self { claim: Some(claim), ..Self::figure(method, data, once) }
    }

    /// What is shown beside the claims, and cannot be refuted.
    pub(crate) fn figure(
        method: &'static str,
        data: impl Into<String>,
        once: impl Fn(&mut Draws) -> Option<bool> + 'static,
    ) -> Self {
        Self { method, data: data.into(), claim: None, answers: 1.0, once: Box::new(once) }
    }

    pub(crate) fn answering(self, least: f64) -> Self {
        Self { answers: least, ..self }
    }

    /// The same data sets every time for one seed, and others for every case.
    pub(crate) fn run(&self, sets: usize, seed: u64) -> Shown {
        let seed = self
            .method
            .bytes()
            .chain(self.data.bytes())
            .fold(seed, |seed: u64, byte| seed.wrapping_mul(0x0100_0000_01b3) ^ u64::from(byte));
        let mut draws = Draws::new(seed);
        let answers: Vec<bool> = (0..sets).filter_map(|_| (self.once)(&mut draws)).collect();
        let happened = answers.iter().filter(|happened| **happened).count();
        Shown {
            share: happened as f64 / answers.len().max(1) as f64,
            answered: answers.len() as f64 / sets as f64,
        }
    }

    /// Whether what was shown fits the claim, when chance may take it `errors` standard errors beyond.
    pub(crate) fn fits(&self, shown: &Shown, sets: usize, errors: f64) -> bool {
        let slack = |share: f64, of: f64| errors * (share * (1.0 - share) / of).sqrt() + 1e-12;
        let all = sets as f64;
        let answers = shown.answered >= self.answers - slack(self.answers, all);
        let within = self.claim.is_none_or(|(least, most)| {
            let of = all * shown.answered;
            shown.share >= least - slack(least, of) && shown.share <= most + slack(most, of)
        });
        answers && within
    }
}
