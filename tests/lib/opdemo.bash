# SPDX-License-Identifier: GPL-2.0-or-later
# The reference session in its place: sample files name binaries in /opt/opdemo.

. "$OPFS_TOP/tests/lib/need.bash"

# opdemo COMMAND...: runs it in /opt/opdemo, which only this command and its children
# see.  The session directory there is s1.
opdemo()
{
	private_mounts sh -c '
		mount -t tmpfs -o mode=755 opdemo /opt &&
		tar -C / --no-same-owner -xJf "$1" && shift &&
		cd /opt/opdemo && exec "$@"
	' sh "$OPFS_TOP/tests/data/opdemo.tar.xz" "$@"
}

# What OProfile printed to stdout in transcript $1.
opdemo_transcript()
{
	sed -n '/^--- stdout$/,/^--- stderr$/p' "$OPFS_TOP/tests/data/transcripts/$1" |
		sed '1d;$d'
}

# same TRANSCRIPT PATH [SED-SCRIPT]: opfs cat PATH prints what the transcript has, edited.
same()
{
	opdemo_transcript "$1" | sed -e "${3-}" >"$BATS_TEST_TMPDIR/want"
	[ -s "$BATS_TEST_TMPDIR/want" ]
	opdemo "$OPFS_BIN/opfs" cat --session-dir s1 "$2" >"$BATS_TEST_TMPDIR/got"
	diff -u "$BATS_TEST_TMPDIR/want" "$BATS_TEST_TMPDIR/got"
}
