"""Counts the nightly series in which Apache Otava finds a change with its default settings.

Reads lines of the form `family,first,value,value,...` from standard input. A change counts if it is found in the values
up to any night from `first` on, as in the table of `make stats`. Needs apache-otava 0.8 from PyPI.
"""

import sys
from collections import defaultdict

from otava.analysis import compute_change_points

counts = defaultdict(lambda: [0, 0])
for line in sys.stdin:
    family, first, *values = line.strip().split(",")
    values = [float(value) for value in values]
    ends = range(int(first), len(values) + 1)
    found = any(compute_change_points(values[:end])[0] for end in ends)
    counts[family][0] += found
    counts[family][1] += 1

print("| series of nights | found by Otava |\n| --- | --- |")
for family, (found, all_) in counts.items():
    print(f"| {family} | {100 * found / all_:.1f} % of {all_} |")
