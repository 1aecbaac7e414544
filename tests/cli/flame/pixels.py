#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tells whether frames of a flame graph have the hues that they should have in a picture.

    pixels.py FILE.svg FILE.png NAME=COLOUR...

COLOUR is a key of COLOURS.  Looks above the letters, in the middle of the frame.
"""

import colorsys
import re
import struct
import sys
import zlib

# degrees of hue
COLOURS = {"orange": (0, 40), "yellow": (44, 66), "green": (85, 155), "blue": (190, 245),
           "red": (355, 20)}


def paeth(a, b, c):
    distances = [abs(b - c), abs(a - c), abs(a + b - 2 * c)]
    return (a, b, c)[distances.index(min(distances))]


PREDICTIONS = [lambda a, b, c: 0, lambda a, b, c: a, lambda a, b, c: b,
               lambda a, b, c: (a + b) // 2, paeth]


def read_png(path):
    """Rows of bytes, and how many are a pixel."""
    with open(path, "rb") as f:
        data = f.read()
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        body = data[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, height, depth, colours = struct.unpack_from(">IIBB", body)
            assert depth == 8 and colours in (2, 6), (depth, colours)
        elif kind == b"IDAT":
            packed += body
        at += size + 12
    step = 3 if colours == 2 else 4
    raw, before, rows = zlib.decompress(packed), bytes(width * step), []
    for y in range(height):
        line = raw[y * (width * step + 1):(y + 1) * (width * step + 1)]
        predict, row = PREDICTIONS[line[0]], bytearray()
        for x, byte in enumerate(line[1:]):
            a, c = (row[x - step], before[x - step]) if x >= step else (0, 0)
            row.append((byte + predict(a, before[x], c)) & 255)
        rows.append(row)
        before = row
    return rows, step


def frames(path):
    """name: x of the middle, y of the upper edge"""
    found, y = {}, None
    with open(path, encoding="utf-8") as f:
        for line in f:
            row = re.match(r'<g transform="translate\(10 (\d+)\)">$', line)
            rect = re.match(r'<rect class="\w+" x="([\d.]+)" width="([\d.]+)" .*'
                            r'<title>([^ ]+)', line)
            if row:
                y = int(row[1])
            elif rect:
                found[rect[3]] = 10 + float(rect[1]) + float(rect[2]) / 2, y
    return found


def is_colour(pixel, name):
    hue, saturation, value = colorsys.rgb_to_hsv(*(c / 255 for c in pixel))
    if name in ("grey", "white"):
        return saturation < 0.05 and (value > 0.88) == (name == "white")
    low, high = COLOURS[name]
    degrees = round(360 * hue)
    return saturation > 0.1 and (low <= degrees <= high if low < high
                                 else degrees >= low or degrees <= high)


def main():
    places = frames(sys.argv[1])
    rows, step = read_png(sys.argv[2])
    for word in sys.argv[3:]:
        name, colour = word.split("=")
        x, y = places[name]
        pixel = rows[y + 1][int(x) * step:int(x) * step + 3]
        assert is_colour(pixel, colour), (word, list(pixel))


main()
