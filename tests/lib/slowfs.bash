# SPDX-License-Identifier: GPL-2.0-or-later
# A file system that takes its time, or never answers (tests/programs/slowfs.c).  Whoever
# sources this kills $slow_pid at the end, before anything that waits for it.

# Once a file.
build_slowfs() {
	# shellcheck disable=SC2046
	"${CC:-gcc}" -std=gnu17 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -O1 -g \
		-o "$BATS_FILE_TMPDIR/slowfs" "$OPFS_TOP/tests/programs/slowfs.c" \
		$(pkg-config --cflags --libs fuse3)
}

# slow [DIR]: mounts DIR/real at DIR/mnt, answered at once, until answers() says
# otherwise.  DIR is that of the test.
slow() {
	local in=${1-$BATS_TEST_TMPDIR}

	[ -w /dev/fuse ] || skip "no /dev/fuse"
	[ "$(id -u)" = 0 ] || skip "only root can show a file system to everyone"
	mkdir -p "$in/mnt" "$in/real"
	ctl=$in/ctl
	answers 0
	"$BATS_FILE_TMPDIR/slowfs" "$in/mnt" "$in/real" "$ctl" \
		>"$in/slowfs.log" 2>&1 3>&- &
	slow_pid=$!
	wait_for mountpoint -q "$in/mnt"
}

# answers MS|never: from now on.
answers() {
	printf '%s\n' "$1" >"$ctl.new"
	mv "$ctl.new" "$ctl"
}
