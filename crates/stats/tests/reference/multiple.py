"""Generates multiple.tsv: p-values adjusted by statsmodels with the Benjamini-Hochberg method.

    pip install numpy statsmodels && python multiple.py >multiple.tsv
"""

import numpy
import statsmodels
from statsmodels.stats.multitest import multipletests

random = numpy.random.default_rng(20261121)
print("# p-values, by Benjamini and Hochberg; statsmodels", statsmodels.__version__)


def text(values):
    return " ".join(repr(float(value)) for value in values)


for case in range(30):
    count = int(random.integers(1, 25))
    p = random.uniform(0, 1, count) ** random.choice([1, 3, 6])
    p = p.round(int(random.choice([1, 2, 6])))
    print(text(p), text(multipletests(p, method="fdr_bh")[1]), sep="\t")
