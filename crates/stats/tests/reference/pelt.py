"""Generates pelt.tsv: change points that ruptures finds in synthetic series with the same cost and penalty.

    pip install ruptures==1.1.9 numpy && python pelt.py >pelt.tsv
"""

import numpy
import ruptures

random = numpy.random.default_rng(20261121)
print("# penalty, shortest part, breaks (the end left out), values; ruptures", ruptures.__version__ if hasattr(ruptures, "__version__") else "")
for case in range(36):
    parts = random.integers(1, 5)
    lengths = random.integers(6, 30, parts)
    means = random.uniform(5, 25, parts)
    values = numpy.concatenate([random.normal(m, 1.0, n) for m, n in zip(means, lengths)]).round(3)
    least = int(random.choice([1, 2, 5]))
    penalty = float(random.choice([4.0, 12.0, 40.0]))
    found = ruptures.Pelt(model="l2", min_size=least, jump=1).fit(values).predict(pen=penalty)
    print(penalty, least, " ".join(map(str, found[:-1])), " ".join(map(str, values)), sep="\t")
