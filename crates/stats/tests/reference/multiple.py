"""Makes multiple.tsv: p-values adjusted by statsmodels, by Holm's method and by Benjamini and Hochberg's.

    pip install numpy statsmodels && python multiple.py >multiple.tsv
"""

import numpy
import statsmodels
from statsmodels.stats.multitest import multipletests

random = numpy.random.default_rng(20261121)
print("# p-values, by Holm, by Benjamini and Hochberg; statsmodels", statsmodels.__version__)


def text(values):
    return " ".join(repr(float(value)) for value in values)


for case in range(30):
    count = int(random.integers(1, 25))
    p = random.uniform(0, 1, count) ** random.choice([1, 3, 6])
    p = p.round(int(random.choice([1, 2, 6])))
    print(*(text(v) for v in (p, *(multipletests(p, method=m)[1] for m in ("holm", "fdr_bh")))), sep="\t")
