"""Generates paired.tsv: biweight estimates of log ratios and their intervals, by SciPy.

    pip install numpy scipy && python paired.py >paired.tsv

Each row: the workload's scatter, the log ratios, and the estimate with both ends of its 95 % interval. The estimate is the
root of the biweight's equation nearest to the median, found by SciPy; the crate finds it by weighted means.
"""

import numpy as np
import scipy
from scipy import optimize, stats


def reference(shared, x):
    middle = np.median(x)
    off = np.sort(np.abs(x - middle))
    unit = stats.norm.ppf(0.75)
    cut = max(6 * shared, 9 * off[(len(x) - 1) // 2] / unit)

    def psi(m):
        u = (x - m) / cut
        return np.sum(np.where(np.abs(u) < 1, u * (1 - u**2) ** 2, 0))

    # The sum changes its sign at the estimate, so find the nearest change on either side of the median.
    grid = middle + np.linspace(-cut, cut, 20001)
    sums = np.array([psi(m) for m in grid])
    roots = [i for i in range(len(grid) - 1) if sums[i] >= 0 > sums[i + 1]]
    start = min(roots, key=lambda i: abs(grid[i] - middle))
    m = optimize.brentq(psi, grid[start], grid[start + 1], xtol=1e-14)
    u = (x - m) / cut
    near = np.abs(u) < 1
    u, d = u[near], (x - m)[near]
    own = np.sqrt(np.sum(d**2 * (1 - u**2) ** 4)) / max(np.sum((1 - u**2) * (1 - 5 * u**2)), 1)
    common = shared / np.sqrt(max(np.sum((1 - u**2) ** 2), 1))
    n = len(x)
    half = max(stats.t.ppf(0.975, 0.7 * (n - 1)) * own, stats.t.ppf(0.975, 2 * (n - 1)) * common)
    return m, m - half, m + half


rng = np.random.default_rng(20261123)
print("# scatter, log ratios, estimate and interval; SciPy", scipy.__version__)
for n in (5, 6, 7, 8, 10, 12, 20):
    for kind in range(5):
        shared = round(rng.uniform(0.005, 0.06), 4)
        x = rng.normal(-0.1, 0.04, n)
        if kind == 1:
            x[rng.integers(n)] -= 1.1
        elif kind == 2:
            x[:2] += 1.1
        elif kind == 3:
            x = rng.standard_t(3, n) * 0.04
        elif kind == 4:
            x = rng.choice([-0.06, 0.0, 0.06], n) + rng.normal(0, 0.01, n)
        x = np.round(x, 5)
        print(shared, " ".join(f"{v:.5f}" for v in x), " ".join(f"{v:.12f}" for v in reference(shared, x)), sep="\t")
