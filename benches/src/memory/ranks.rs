//! Selects the next page, either at random by rank or sequentially. The sequence is deterministic.

use sys::anonymous_memory::PAGE;

use super::program::PatternShape;

#[derive(Debug)]
pub(super) struct Ranks {
    shape: Drawing,
    pages: usize,
    state: u64,
}

#[derive(Debug)]
enum Drawing {
    TwoLevel { hot: usize, share: f64 },
    Weighted { cumulative: Vec<f64> },
    Scan { next: usize },
}

impl Ranks {
    pub(super) fn new(shape: PatternShape, pages: usize) -> Self {
        let shape = match shape {
            PatternShape::TwoLevel { hot, share } => {
                let hot = usize::try_from(hot.0).unwrap_or(usize::MAX) / PAGE;
                Drawing::TwoLevel { hot: hot.clamp(1, pages.saturating_sub(1).max(1)), share }
            }
            PatternShape::Zipf { exponent } => Drawing::Weighted { cumulative: zipf(exponent, pages) },
            PatternShape::Scan => Drawing::Scan { next: 0 },
        };
        Self { shape, pages: pages.max(1), state: 0x9e37_79b9_7f4a_7c15 }
    }

    pub(super) fn draw(&mut self) -> usize {
        let (place, pages) = (self.uniform(), self.pages);
        let within = |from: usize, to: usize, place: f64| {
            (from + ((to - from) as f64 * place) as usize).min(pages - 1)
        };
        match &mut self.shape {
            Drawing::TwoLevel { hot, share } if place < *share => within(0, *hot, place / *share),
            Drawing::TwoLevel { hot, share } => within(*hot, pages, (place - *share) / (1.0 - *share)),
            Drawing::Weighted { cumulative } => {
                cumulative.partition_point(|sum| *sum <= place).min(pages - 1)
            }
            Drawing::Scan { next } => {
                *next = (*next + 1) % pages;
                *next
            }
        }
    }

    /// Returns values from 0 to 1 (xorshift64*, Vigna, ACM TOMS 42, 2016).
    fn uniform(&mut self) -> f64 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        (self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

fn zipf(exponent: f64, pages: usize) -> Vec<f64> {
    let mut sum = 0.0;
    let mut cumulative: Vec<f64> = (1..=pages)
        .map(|rank| {
            sum += (rank as f64).powf(-exponent);
            sum
        })
        .collect();
    cumulative.iter_mut().for_each(|part| *part /= sum);
    cumulative
}

#[cfg(test)]
mod tests {
    use units::Bytes;

    use super::*;

    const PAGES: usize = 1000;

    fn drawn(shape: PatternShape) -> Vec<u32> {
        let mut ranks = Ranks::new(shape, PAGES);
        let mut counts = vec![0; PAGES];
        (0..100_000).for_each(|_| counts[ranks.draw()] += 1);
        counts
    }

    #[test]
    fn draws_pages_by_pattern() {
        let share = |counts: &[u32], to: usize| f64::from(counts[..to].iter().sum::<u32>()) / 1e5;
        let two = drawn(PatternShape::TwoLevel { hot: Bytes(100 << 12), share: 0.8 });
        assert!((share(&two, 100) - 0.8).abs() < 0.01 && (share(&two, 550) - 0.9).abs() < 0.01);
        // H(100) / H(1000), the ratio of harmonic numbers, is 0.693.
        let zipf = drawn(PatternShape::Zipf { exponent: 1.0 });
        assert!((share(&zipf, 100) - 0.693).abs() < 0.01, "{}", share(&zipf, 100));
        assert!(drawn(PatternShape::Scan).iter().all(|count| *count == 100));
    }
}
