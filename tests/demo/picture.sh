#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# picture.sh O SVG: the flame graph that README shows: opfs itself, while it makes the
# reports of a large session.  O is where the programs were built.
set -eu

top=$(cd "$(dirname "$0")/../.." && pwd)
bin=$(cd "$1/bin" && pwd)
svg=$(realpath -m "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 "$top/bench/mklarge.py" large 6 20 4000
"$bin/opcollect" record -g -F 4999 -d session -- "$bin/opfs" cat --session-dir large \
	current/report current/details current/report.tsv \
	current/report.xml >report
"$bin/opfs" cat --session-dir session current/image:opfs/flamegraph.svg |
	sed "s|$bin/|/usr/local/bin/|g" >"$svg"
