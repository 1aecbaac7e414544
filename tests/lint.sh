#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lint.sh [GATE...]: checks the rules of CONTRIBUTING.md that a program can check, all of
# them or those that are named; prints a line for each violation.  Gates:
#
#   format     every source is as "make format" leaves it
#   columns    no line of a program is wider than 90 columns
#   length     no source has more than 700 lines
#   functions  none has more than 100 lines, and nine of ten at most 50
#   modules    a module is one .c and one .h
#   layers     no source includes what its folder or room must not know
#   calls      no modules of one folder call each other in a cycle; O names the build
#              directory, in which this tree must have been built
#
# lint.sh lay-out: what "make format" does.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${O:-build}
gates=(format columns length functions modules layers calls)

folders=(base libspec libsym libcfi events collector opfs)

# All C but lists, which are tables, and programs whose lines tests count.
list_laid_out()
{
	find "${folders[@]}" kernel tests bench -name '*.[ch]' ! -name '*_list.h' \
		! -path 'tests/programs/*' ! -path 'tests/cli/*' | sort
}

list_modules()
{
	find "${folders[@]}" kernel -name '*.[ch]' ! -name '*_list.h' | sort
}

# C, awk, make, Python, shell, and what browsers run; a script without a suffix is known
# by its first line.
list_programs()
{
	find Makefile .ci "${folders[@]}" kernel tests bench doc/completion \
		-path tests/golden -prune -o -path tests/data -prune -o \
		-path tests/fuzz/corpus -prune -o -type f -print |
		xargs awk 'FNR == 1 && (/^#!|^#compdef/ || FILENAME ~ \
			/(^|\/)Makefile$|[.]([ch]|awk|bash|bats|css|js|mk|py|sh)$/) {
			print FILENAME
		}' | sort
}

# One run of clang-format may leave what a second one lays out otherwise.
lay_out()
{
	for _ in 1 2 3; do
		list_laid_out | xargs clang-format -i
	done
}

check_format()
{
	list_laid_out | xargs clang-format --dry-run -Werror 2>&1 |
		sed -n '/ error: /p; /^xargs/p'
}

check_columns()
{
	list_programs | LC_ALL=C xargs awk -v most=90 -f tests/columns.awk
}

check_length()
{
	list_laid_out | xargs awk -v most=700 'FNR == most + 1 {
		print FILENAME ": more than " most " lines"
	}'
}

check_functions()
{
	list_laid_out |
		xargs awk -v most=100 -v usual=50 -v percent=90 -f tests/functions.awk
}

check_modules()
{
	list_modules | xargs awk -f tests/modules.awk
}

check_layers()
{
	find "${folders[@]}" kernel/uapi tests/unit -name '*.[ch]' | sort |
		xargs awk -f tests/layers.awk
}

# The build directory may hold objects of sources that are gone: these do not count.
check_calls()
{
	list_modules | sed -n "/^kernel/d; s|c\$|o|; s|.*o\$|$build/obj/&|p" |
		LC_ALL=C xargs nm -A | awk -v cut="$build/obj/" -f tests/calls.awk
}

if [ "${1-}" = lay-out ]; then
	lay_out
	exit
fi
failed=0
for gate in "${@:-${gates[@]}}"; do
	if ! declare -F "check_$gate" >/dev/null; then
		echo "lint.sh: there is no gate \"$gate\", but: ${gates[*]}" >&2
		exit 2
	fi
	rc=0
	found=$("check_$gate" 2>&1) || rc=$?
	if [ "$found" ] || [ $rc != 0 ]; then
		sed "s/^/$gate: /" <<<"${found:-failed with $rc}"
		failed=1
	fi
done
exit $failed
