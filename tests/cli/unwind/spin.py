# SPDX-License-Identifier: GPL-2.0-or-later
"""Keeps the interpreter busy, for ever: calls from Python to C and back."""
import json
import re


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


class ById:
    def __lt__(self, other):
        return id(self) < id(other)


while True:
    sorted(ById() for _ in range(100))
    fib(12)
    re.sub(r"(a|b)+c", lambda m: str(fib(5)), "ababcabc" * 20)
    json.loads(json.dumps({"a": [1, 2, {"b": list(range(50))}]}, indent=1))
