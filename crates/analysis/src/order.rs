//! Sorts items by a number, and finds the largest and the smallest.

pub(crate) trait ByNumber: Iterator + Sized {
    fn largest(self, number: impl Fn(&Self::Item) -> f64) -> Option<Self::Item> {
        self.max_by(|one, other| number(one).total_cmp(&number(other)))
    }

    fn smallest(self, number: impl Fn(&Self::Item) -> f64) -> Option<Self::Item> {
        self.min_by(|one, other| number(one).total_cmp(&number(other)))
    }
}

impl<I: Iterator> ByNumber for I {}

pub(crate) fn sort_descending<T>(items: &mut [T], number: impl Fn(&T) -> f64) {
    items.sort_by(|one, other| number(other).total_cmp(&number(one)));
}
