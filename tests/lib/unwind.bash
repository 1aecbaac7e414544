# SPDX-License-Identifier: GPL-2.0-or-later
# Compares stacks that libcfi unwinds with those of gdb; see gdb_stacks.py.

src=$OPFS_TOP/tests/cli/unwind

need_gdb() {
	need_command gdb
	[ "$(uname -m)" = x86_64 ] || skip "other machines are compared in guests"
}

# The tool that unwinds what gdb tells.
build_unwindat() {
	local lib

	lib=$(readlink -f "$OPFS_BIN/../lib")
	# shellcheck disable=SC2086 # words on purpose
	${CC:-gcc} -std=gnu17 -O2 -g -D_GNU_SOURCE -I"$OPFS_TOP" \
		${OPFS_SAN:+-fsanitize=$OPFS_SAN} -o unwindat \
		"$OPFS_TOP/tests/tools/unwindat.c" "$lib/libcfi.a" "$lib/base.a" -pthread
}

# build_shapes FLAGS...: shapes.c without frame pointers, as shapesFLAGS
build_shapes() {
	local IFS=''

	gcc "$@" -g0 -fomit-frame-pointer -o "shapes$*" "$src/shapes.c" -lm
}

# compare STOPS PROGRAM...: the counts in "number", by what they count
compare() {
	local what

	STOPS=$1 UNWINDAT=$PWD/unwindat gdb -nx -batch \
		-x "$OPFS_TOP/tests/lib/gdb_stacks.py" --args "${@:2}" >log 2>gdb.err || {
		tail -n 20 log gdb.err
		return 1
	}
	declare -gA number=()
	for what in $(tail -n 1 log); do
		number[${what%%=*}]=${what#*=}
	done
	[ "${number[equal]-}" ] || {
		tail -n 20 log gdb.err
		return 1
	}
	echo "# ${*:2}: ${number[*]@K}"
}

# At least 99 % of what was compared is the same as far as it can be, and a few of the
# stops are in code whose rule counts from a register that no sample has.  Where stops are
# few, one that differs and three of those are chance.
agrees() {
	local wrong=$((number[differ] + number[astray]))
	local right=$((number[equal] + number[short] + number[beyond]))

	[ $(((wrong - 1) * 99)) -le $right ] && [ $right -gt 0 ] &&
		[ $(((number[unread] - 3) * 30)) -le $right ] || {
		grep -E '^(differ|astray)' log
		tail -n 1 log
		return 1
	}
}
