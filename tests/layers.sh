#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# layers.sh: no source includes what its folder must not know.  Tells file:line.
set -eu
cd "$(dirname "$0")/.."

find base libspec libsym events collector opfs kernel/uapi tests/unit \
	-name '*.[ch]' 2>/dev/null | sort | xargs awk -f tests/layers.awk
