//! A claim about a method that data sets of known truth can refute. Knows no method.

use crate::draws::Draws;

type Once = dyn Fn(&mut Draws) -> Option<bool>;

/// One claim: how often something happens.
pub(crate) struct Case {
    /// The method.
    pub(crate) method: &'static str,
    /// What the data are.
    pub(crate) data: String,
    /// The least and the largest share that the claim allows.
    pub(crate) allowed: (f64, f64),
    /// One data set: whether it happened; `None` when the method gave no answer.
    pub(crate) once: Box<Once>,
}

/// What data sets showed.
pub(crate) struct Shown {
    /// The share in which it happened, of those with an answer.
    pub(crate) share: f64,
    /// The share with an answer.
    pub(crate) answered: f64,
}

impl Case {
    pub(crate) fn new(
        method: &'static str,
        data: impl Into<String>,
        allowed: (f64, f64),
        once: impl Fn(&mut Draws) -> Option<bool> + 'static,
    ) -> Self {
        Self { method, data: data.into(), allowed, once: Box::new(once) }
    }

    /// The same data sets every time, and others for every case.
    pub(crate) fn run(&self, sets: usize) -> Shown {
        let seed = self
            .method
            .bytes()
            .chain(self.data.bytes())
            .fold(20_261_121, |seed: u64, byte| seed.wrapping_mul(0x0100_0000_01b3) ^ u64::from(byte));
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
        let (least, most) = self.allowed;
        let slack = |share: f64| errors * (share * (1.0 - share) / (sets as f64 * shown.answered)).sqrt();
        shown.share >= least - slack(least) - 1e-12 && shown.share <= most + slack(most) + 1e-12
    }
}
