"""Generates humps.tsv: unimodal and bimodal samples, with the results of Hartigan's dip test and a mixture of two normals.

    pip install numpy diptest scikit-learn && python humps.py >humps.tsv
"""

import diptest
import numpy
import sklearn
from sklearn.mixture import GaussianMixture

random = numpy.random.default_rng(20261121)
print("# true humps, p of the dip test, BIC of one normal less BIC of two, the two means, values;",
      "diptest", diptest.__version__, "scikit-learn", sklearn.__version__)
for case in range(80):
    n = int(random.choice([12, 20, 40, 80]))
    kind = case % 5
    values = {
        0: random.normal(10, 1, n),
        1: numpy.exp(random.normal(2.3, 0.3, n)),
        2: random.uniform(8, 12, n),
        3: numpy.where(random.random(n) < 0.4, 12.6, 20.0) * random.normal(1, 0.03, n),
        4: numpy.where(random.random(n) < 0.4, 10.0, 12.0) * random.normal(1, 0.05, n),
    }[kind].round(3)
    column = values.reshape(-1, 1)
    one = GaussianMixture(1, random_state=1).fit(column)
    two = GaussianMixture(2, random_state=1, n_init=5).fit(column)
    means = sorted(two.means_.ravel())
    print(1 if kind < 3 else 2, f"{diptest.diptest(values)[1]:.4f}", f"{one.bic(column) - two.bic(column):.2f}",
          " ".join(f"{x:.3f}" for x in means), " ".join(map(str, values)), sep="\t")
