"""Generates cosines.tsv: the first cosine transforms of series, by SciPy.

    pip install numpy scipy && python cosines.py >cosines.tsv
"""

import numpy
import scipy
from scipy.fft import dct

random = numpy.random.default_rng(20261121)
print("# transforms 1 to 5 (type II, orthonormal), values; scipy", scipy.__version__)
for case in range(20):
    values = random.normal(10, 1, int(random.integers(10, 60))).round(3)
    found = dct(values, norm="ortho")[1:6]
    print(" ".join(repr(float(x)) for x in found), " ".join(map(str, values)), sep="\t")
