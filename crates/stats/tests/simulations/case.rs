//! A claim about a method. Data sets with known true values can refute it.

use crate::draws::Draws;

type Once = dyn Fn(&mut Draws) -> Option<(f64, f64)>;

/// Default seed. Differs from the seed used to choose the methods.
pub(crate) const SEED: u64 = 7;

pub(crate) struct Case {
    pub(crate) method: &'static str,
    pub(crate) data: String,
    pub(crate) claim: Option<(f64, f64)>,
    pub(crate) answers: f64,
    once: Box<Once>,
}

pub(crate) struct Shown {
    pub(crate) share: f64,
    pub(crate) answered: f64,
}

impl Case {
    /// `once` returns whether the event happened in one data set, or `None` if the method has no result.
    pub(crate) fn new(
        method: &'static str,
        data: impl Into<String>,
        claim: (f64, f64),
        once: impl Fn(&mut Draws) -> Option<bool> + 'static,
    ) -> Self {
        Self { claim: Some(claim), ..Self::figure(method, data, once) }
    }

    pub(crate) fn figure(
        method: &'static str,
        data: impl Into<String>,
        once: impl Fn(&mut Draws) -> Option<bool> + 'static,
    ) -> Self {
        let once = move |draws: &mut Draws| Some((f64::from(u8::from(once(draws)?)), 1.0));
        Self { method, data: data.into(), claim: None, answers: 1.0, once: Box::new(once) }
    }

    /// Claims that the mean of the first number is at most this multiple of the mean of the second.
    pub(crate) fn at_most(
        method: &'static str,
        data: impl Into<String>,
        most: f64,
        once: impl Fn(&mut Draws) -> Option<(f64, f64)> + 'static,
    ) -> Self {
        let claim = Some((-1.0, most));
        Self { method, data: data.into(), claim, answers: 1.0, once: Box::new(once) }
    }

    pub(crate) fn claimed_if(self, held: bool) -> Self {
        Self { claim: self.claim.filter(|_| held), ..self }
    }

    pub(crate) fn answering(self, least: f64) -> Self {
        Self { answers: least, ..self }
    }

    pub(crate) fn run(&self, sets: usize, seed: u64) -> Shown {
        let seed = self
            .method
            .bytes()
            .chain(self.data.bytes())
            .fold(seed, |seed: u64, byte| seed.wrapping_mul(0x0100_0000_01b3) ^ u64::from(byte));
        let mut draws = Draws::new(seed);
        let answers: Vec<(f64, f64)> = (0..sets).filter_map(|_| (self.once)(&mut draws)).collect();
        let sum = |of: fn(&(f64, f64)) -> f64| answers.iter().map(of).sum::<f64>();
        Shown {
            share: sum(|it| it.0) / sum(|it| it.1).max(f64::MIN_POSITIVE),
            answered: answers.len() as f64 / sets as f64,
        }
    }

    pub(crate) fn fits(&self, shown: &Shown, sets: usize, errors: f64) -> bool {
        let slack = |share: f64, of: f64| errors * ((share * (1.0 - share)).max(0.0) / of).sqrt() + 1e-12;
        let all = sets as f64;
        let answers = shown.answered >= self.answers - slack(self.answers, all);
        let within = self.claim.is_none_or(|(least, most)| {
            let of = all * shown.answered;
            shown.share >= least - slack(least, of) && shown.share <= most + slack(most, of)
        });
        answers && within
    }
}
