#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares a report.tsv with the known weights of tests/programs/weights.c.

usage: weights.py REPORT_TSV [MINIMUM]: exit 0 if at least MINIMUM samples are in
weight_N and no share is off by more than 4.5 standard errors.
"""
import math
import sys

SIGMAS = 4.5  # with 50 functions chance passes it about once in 3,000 runs


def main():
    minimum = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    counts = dict.fromkeys(range(1, 51), 0)
    with open(sys.argv[1]) as f:
        head = f.readline().lstrip("#").strip().split("\t")
        symbol, samples = head.index("symbol"), head.index("samples")
        for line in f:
            fields = line.rstrip("\n").split("\t")
            if fields[symbol].startswith("weight_"):
                counts[int(fields[symbol][7:])] += int(fields[samples])
    total = sum(counts.values())
    if total < minimum:
        sys.exit("weights.py: %d samples in the functions, %d wanted" % (total, minimum))
    worst = 0.0
    for weight, count in counts.items():
        p = weight / sum(counts)
        off = (count - total * p) / math.sqrt(total * p * (1 - p))
        worst = max(worst, abs(off))
        if abs(off) > SIGMAS:
            sys.exit("weights.py: weight_%d: %d of %d samples, %.1f expected: %.1f sigma off"
                     % (weight, count, total, total * p, off))
    print("%d samples, worst %.2f sigma" % (total, worst))


if __name__ == "__main__":
    main()
