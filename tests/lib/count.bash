# SPDX-License-Identifier: GPL-2.0-or-later
# What the tests of "opcollect count" share.  Sourced by bats files.

# shellcheck source=tests/lib/need.bash
. "$OPFS_TOP/tests/lib/need.bash"

progs="$OPFS_TOP/tests/cli/progs"
export PYTHONDONTWRITEBYTECODE=1

setup_file() {
	"${CC:-gcc}" -O1 -D_GNU_SOURCE -pthread -o "$BATS_FILE_TMPDIR/pages" \
		"$progs/pages.c"
}

setup() {
	pages="$BATS_FILE_TMPDIR/pages"
	opcollect="$OPFS_BIN/opcollect"
	cd "$BATS_TEST_TMPDIR"
	count -e page-faults -f can -- true ||
		skip "this user may not count here"
}

count() {
	"$OPFS_BIN/opcollect" count "$@"
}

# counted NR PAGES... -- OPTION...: see counted.py; what happened is in "threads".
counted() {
	local nr=$1 sizes=()

	shift
	while [ "$1" != -- ]; do
		sizes+=("$1")
		shift
	done
	shift
	python3 "$progs/counted.py" "$nr" "$pages" "${sizes[@]}" -- "$opcollect" count \
		"$@" >threads
}

# rows [FILE]: makes "rows" of the JSON in "out" or FILE, checked: "EVENT PLACE COUNT".
rows() {
	python3 "$OPFS_TOP/tests/lib/check_count.py" "$OPFS_TOP/doc/count.schema.json" \
		"${1:-out}" >rows
}

# sum EVENT [PLACE]: of the rows; of all places.
sum() {
	awk -v e="$1" -v p="${2:-all}" '$1 == e && $2 == p { print $3; found = 1 }
		END { exit !found }' rows
}

# near N LEAST: programs touch a few pages besides.
near() {
	if [ "$1" -lt "$2" ] || [ "$1" -gt $(($2 + 200)) ]; then
		echo "$1 is not $2"
		return 1
	fi
}

whole_cpus() {
	count -a -e page-faults -f can -- true 2>/dev/null ||
		skip "this user may not count whole CPUs"
}
