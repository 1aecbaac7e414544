#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Looks at a flame graph in a browser, as its user.

    page.py CASE FILE

FILE is of the stacks of flame.bats; CASE is one of the functions below that "case" marks.
"""

import html
import os
import sys
from urllib.parse import quote

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../lib"))
from browser import CTRL, Browser  # noqa: E402

WIDTH = 1180

FRAMES = """[...document.querySelectorAll('#frames rect')].map(rect => {
    const box = rect.getBoundingClientRect(), next = rect.nextSibling;
    const label = next && next.localName === 'text' ? next : null;
    const inked = label && label.textContent ? label.getBoundingClientRect() : null;
    return {
        title: rect.textContent, x: box.x, y: box.y, width: box.width,
        height: box.height, label: label ? label.textContent : '',
        left: inked && inked.left, right: inked && inked.right,
        fill: getComputedStyle(rect).fill,
        opacity: +getComputedStyle(rect).fillOpacity,
        ink: label && getComputedStyle(label).fill,
        focused: rect === document.activeElement,
        matches: rect.classList.contains('match'),
    };
}).filter(f => f.width > 0)"""

cases = {}


def case(function):
    cases[function.__name__] = function
    return function


class Page(Browser):
    def frames(self):
        """name: frame, of those that are seen"""
        found = {}
        for f in self.evaluate(FRAMES):
            name = f["title"].rsplit(" sample", 1)[0].rsplit(" ", 1)[0]
            found[name.split(" (/")[0].split(" (kernel")[0]] = f
        return found

    def shape(self):
        return {name: (round(f["x"], 1), round(f["y"], 1), round(f["width"], 1),
                       f["label"]) for name, f in self.frames().items()}

    def click_frame(self, name):
        f = self.frames()[name]
        self.click(f["x"] + f["width"] / 2, f["y"] + f["height"] / 2)

    def click_button(self, text):
        box = self.evaluate("""(() => {
            const b = [...document.querySelectorAll('[role=button]')].find(
                e => e.textContent === %r).getBoundingClientRect();
            return [b.x + b.width / 2, b.y + b.height / 2, b.width];
        })()""" % text)
        assert box[2] > 0, text + " is not seen"
        self.click(*box[:2])

    def text(self, selector):
        return self.evaluate("document.querySelector(%r).textContent" % selector)

    def wait_width(self, name, width):
        """Until the frame has that width."""
        self.wait_for("""[...document.querySelectorAll('#frames rect')].some(r =>
            r.textContent.startsWith(%r) &&
            Math.abs(r.getBoundingClientRect().width - %f) < 0.2)""" % (name, width))

    def focused(self):
        return [name for name, f in self.frames().items() if f["focused"]]

    def matching(self):
        return sorted(name for name, f in self.frames().items() if f["matches"])


@case
def zoom(b, path):
    b.open(path)
    before = b.shape()
    b.click_frame("run")
    b.wait_width("run ", WIDTH)
    assert b.focused() == ["run"], b.focused()
    seen = b.frames()
    assert set(seen) == {"all", "main", "run", "interpret", "write", "do_syscall_64",
                         "a_name_that_is_cut_before_the_zoom"}, set(seen)
    for name in "all", "main", "run", "interpret":
        assert abs(seen[name]["width"] - WIDTH) < 0.2, (name, seen[name])
    assert abs(seen["write"]["width"] - WIDTH * 200 / 250) < 1
    longest = "a_name_that_is_cut_before_the_zoom"
    assert before[longest][3] != longest and seen[longest]["label"] == longest

    b.click_frame("main")  # below: a step back
    b.wait_width("run ", WIDTH / 4)
    assert "parse" in b.frames() and "[truncated: depth limit]" not in b.frames()
    b.click_button("reset zoom")
    b.wait_width("[truncated", WIDTH / 11)
    assert b.shape() == before, (b.shape(), before)


@case
def keys(b, path):
    b.open(path)
    before = b.shape()
    for key, name in [("Tab", "all"), ("ArrowUp", "main"), ("ArrowUp", "parse"),
                      ("ArrowRight", "run"), ("ArrowRight", "run"),
                      ("ArrowUp", "interpret"), ("ArrowDown", "run"),
                      ("ArrowLeft", "parse"), ("Home", "all"), ("ArrowDown", "all"),
                      ("ArrowUp", "main"), ("ArrowUp", "parse")]:
        b.key(key)
        assert b.focused() == [name], (key, name, b.focused())
        assert b.text("#details") == b.frames()[name]["title"]
    b.key("Enter")
    b.wait_width("parse ", WIDTH)
    for key, name in ("ArrowRight", "parse"), ("ArrowUp", "lex"):
        b.key(key)  # what is not seen gets no focus
        assert b.focused() == [name], (key, name, b.focused())
    b.key("Escape")
    b.wait_width("[truncated", WIDTH / 11)
    assert b.shape() == before


@case
def icicle_keys(b, path):
    b.open(path)
    for key, name in ("Tab", "all"), ("ArrowDown", "main"), ("ArrowUp", "all"):
        b.key(key)
        assert b.focused() == [name], (key, name, b.focused())


@case
def search(b, path):
    b.open(path)
    b.key("/")
    b.type("malloc")  # once, though _int_malloc in it matches too
    b.wait_for("document.querySelector('#found').textContent")
    assert b.text("#found") == "matches: 27.3% of all", b.text("#found")
    assert b.matching() == ["_int_malloc", "malloc"], b.matching()
    b.key("Escape")
    b.wait_for("!document.querySelector('#found').textContent")
    assert b.matching() == []

    b.key("f", CTRL)
    b.type("^(LEX|run)$")
    b.wait_for("document.querySelector('#found').textContent")
    assert b.text("#found") == "matches: 59.1% of all", b.text("#found")
    assert b.matching() == ["lex", "run"], b.matching()
    b.type("(")
    b.wait_for("document.querySelector('#found').textContent.startsWith('not')")
    assert b.text("#found") == "not a regular expression"
    assert b.matching() == []
    b.key("Escape")

    b.click_button("search")
    b.type("libc[.]so")  # an image
    b.wait_for("document.querySelector('#found').textContent")
    assert b.matching() == ["_int_malloc", "malloc", "write"], b.matching()


@case
def address(b, path):
    b.open(path)
    b.click_frame("run")
    b.wait_width("run ", WIDTH)
    b.key("/")
    b.type("[w]rite")
    b.wait_for("document.querySelector('#found').textContent")
    shape, found = b.shape(), b.text("#found")
    b.load("Page.reload")
    b.wait_width("run ", WIDTH)
    assert b.shape() == shape
    assert b.text("#found") == found and b.matching() == ["write"]
    for hostile in "#zoom=99999", "#zoom=length", "#zoom=-1&search=(", "#%00&&=":
        b.evaluate("location.hash = %r" % hostile)
        b.wait_width("[truncated", WIDTH / 11)


@case
def without_scripts(b, path):
    b.open(path)
    scripted, titles = b.shape(), [f["title"] for f in b.frames().values()]
    b.open(path, scripts=False)
    assert b.evaluate("document.documentElement.getAttribute('role')") == "img"
    assert b.shape() == scripted
    assert [f["title"] for f in b.frames().values()] == titles

    page = os.path.join(os.path.dirname(path), "page.html")
    with open(page, "w", encoding="utf-8") as f:
        f.write("<!DOCTYPE html><meta http-equiv='Content-Security-Policy' "
                "content=\"script-src 'none'\"><img src='%s'>"
                % html.escape(quote(os.path.basename(path))))
    b.open(page)
    assert b.evaluate("document.images[0].naturalWidth") == 1200


def luminance(colour):
    def linear(c):
        c /= 255
        return c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4

    r, g, blue = map(linear, colour)
    return 0.2126 * r + 0.7152 * g + 0.0722 * blue


def rgb(text):
    return [float(c) for c in text[text.index("(") + 1:-1].split(",")[:3]]


def contrast(a, b):
    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@case
def legible(b, path):
    for dark in False, True:
        b.open(path, dark=dark)
        page = rgb(b.evaluate("getComputedStyle(document.querySelector('#page')).fill"))
        title = rgb(b.evaluate("getComputedStyle(document.querySelector('#title')).fill"))
        assert (luminance(page) < 0.2) == dark, page
        assert contrast(page, title) > 7
        labels = [f for f in b.frames().values() if f["label"]]
        assert labels
        for f in labels:
            fill = [f["opacity"] * c + (1 - f["opacity"]) * p
                    for c, p in zip(rgb(f["fill"]), page)]
            assert contrast(fill, rgb(f["ink"])) > 4.5, f
            assert f["x"] <= f["left"] and f["right"] <= f["x"] + f["width"], f


@case
def starts(b, path):
    """Whatever the names are."""
    b.open(path)
    assert b.evaluate("document.documentElement.getAttribute('role')") == "application"
    for f in b.evaluate(FRAMES):
        b.click(f["x"] + f["width"] / 2, f["y"] + f["height"] / 2)
        b.evaluate("document.documentElement.dispatchEvent("
                   "new KeyboardEvent('keydown', { key: 'Escape' }))")
    assert b.evaluate(FRAMES)


with Page() as browser:
    cases[sys.argv[1]](browser, sys.argv[2])
