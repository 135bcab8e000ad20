"""Generates permutation.tsv: p-values of SciPy's exact permutation test with rank sums, including ties.

    pip install numpy scipy && python permutation.py >permutation.tsv
"""

import numpy
import scipy
from scipy.stats import permutation_test, rankdata

random = numpy.random.default_rng(20261121)
print("# kind, first, second, two-sided p; scipy", scipy.__version__)


def text(values):
    return " ".join(repr(float(value)) for value in values)


def unpaired(a, b):
    ranks = rankdata(numpy.concatenate([a, b]))
    first, second = ranks[: len(a)], ranks[len(a) :]
    middle = len(a) * (len(a) + len(b) + 1) / 2
    far = lambda x, y: abs(x.sum() - middle)
    return permutation_test(
        (first, second), far, permutation_type="independent", n_resamples=numpy.inf, alternative="greater"
    ).pvalue


for case in range(30):
    n, m = random.integers(2, 8, 2)
    digits = int(random.choice([0, 1, 3]))
    shift = random.choice([0.0, 1.0, 2.0])
    a, b = random.normal(10, 1, n).round(digits), random.normal(10 + shift, 1, m).round(digits)
    print("unpaired", text(a), text(b), repr(float(unpaired(a, b))), sep="\t")
