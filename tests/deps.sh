#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# deps.sh PACKAGE...: installs the Debian packages that are not there yet.
set -eu

missing=
if ! command -v dpkg-query >/dev/null; then
	echo "deps: not a Debian system: install what stands for: $*" >&2
	exit 0
fi
for p in "$@"; do
	case $(dpkg-query -W -f='${db:Status-Abbrev}' "$p" 2>/dev/null) in
	?i*) ;;
	*) missing="$missing $p" ;;
	esac
done
[ -n "$missing" ] || exit 0

sudo=
if [ "$(id -u)" != 0 ]; then
	if ! command -v sudo >/dev/null; then
		echo "deps: needs root or sudo to install:$missing" >&2
		exit 1
	fi
	sudo='sudo --preserve-env=DEBIAN_FRONTEND'
fi
echo "deps: installing$missing"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2086 # words on purpose
if ! { $sudo apt-get update && $sudo apt-get install -y --no-install-recommends \
	$missing; } >"$log" 2>&1 </dev/null; then
	tail -n 20 "$log" >&2
	echo "deps: apt-get failed; missing:$missing" >&2
	exit 1
fi
