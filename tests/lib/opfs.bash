# SPDX-License-Identifier: GPL-2.0-or-later
# A session directory that is made up, and what opfs shows of it: $D, or "s" here if that
# is not set.  Sourced by bats files.

# mksession [FILE]: makes what FILE, or stdin, describes; see mksession.py.
mksession() {
	python3 "$OPFS_TOP/tests/lib/mksession.py" "${D:-s}" "$@"
}

# opfs COMMAND WORD...
opfs() {
	"$OPFS_BIN/opfs" "$1" --session-dir "${D:-s}" "${@:2}"
}

# offset_of BINARY FUNCTION: where it is in the file, if it is loaded where it is.
offset_of() {
	python3 - "$( (nm "$1"; nm -D "$1") 2>/dev/null |
		awk -v f="$2" '$3 == f { print $1; exit }')" \
		"$(readelf -lW "$1" | awk '$1 == "LOAD" { print $2, $3 }' |
		tr '\n' ' ')" <<-'END'
	import sys
	at = int(sys.argv[1], 16)
	words = [int(w, 16) for w in sys.argv[2].split()]
	off, vma = [p for p in zip(words[::2], words[1::2]) if p[1] <= at][-1]
	print(hex(at - vma + off))
	END
}

# build_id FILE: of its note
build_id() {
	readelf -n "$1" | awk '$1 == "Build" { print $3 }'
}

# other_id ID: one that is never the same, unlike ID with a digit of our choice
other_id() {
	tr 0-9a-f 1-9a-f0 <<<"$1"
}

# flip_byte FILE AT: every bit of it, since a byte of our choice may be what is there
flip_byte() {
	local was

	was=$(od -An -tu1 -j "$2" -N 1 "$1")
	# shellcheck disable=SC2059 # the format is an octal escape
	printf "$(printf '\\%o' $((255 - was)))" |
		dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
