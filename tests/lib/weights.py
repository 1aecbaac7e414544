#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares a report.tsv with the known weights of tests/programs/weights.c.

usage: weights.py REPORT_TSV [FILE]: exit 0 if no share is off by more than chance is in
4.5 standard deviations, however few samples there are.  How many samples are in weight_N
is written to FILE.
"""
import math
import sys

SIGMAS = 4.5  # with 50 functions chance passes it about once in 3,000 runs


def tail(count, mean):
    """How likely so many are, or even more, or fewer, on the side where count is."""
    term = math.exp(count * math.log(mean) - mean - math.lgamma(count + 1))
    total, k = 0.0, count
    while term > 1e-12 * (total or 1e-300):
        total += term
        if count > mean:
            k += 1
            term *= mean / k
        elif not k:
            break
        else:
            term *= k / mean
            k -= 1
    return total


def main():
    counts = dict.fromkeys(range(1, 51), 0)
    with open(sys.argv[1]) as f:
        head = f.readline().lstrip("#").strip().split("\t")
        symbol, samples = head.index("symbol"), head.index("samples")
        for line in f:
            fields = line.rstrip("\n").split("\t")
            if fields[symbol].startswith("weight_"):
                counts[int(fields[symbol][7:])] += int(fields[samples])
    total = sum(counts.values())
    if not total:
        sys.exit("weights.py: no samples in the functions")
    if len(sys.argv) > 2:
        with open(sys.argv[2], "w") as f:
            print(total, file=f)
    worst = 0.0
    for weight, count in counts.items():
        p = weight / sum(counts)
        off = (count - total * p) / math.sqrt(total * p * (1 - p))
        worst = max(worst, abs(off))
        chance = math.erfc(SIGMAS / 2 ** 0.5) / 2
        if abs(off) > SIGMAS and tail(count, total * p) < chance:
            sys.exit("weights.py: weight_%d: %d of %d samples, %.1f expected: "
                     "%.1f sigma off"
                     % (weight, count, total, total * p, off))
    print("%d samples, worst %.2f sigma" % (total, worst))


if __name__ == "__main__":
    main()
