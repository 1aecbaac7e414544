# SPDX-License-Identifier: GPL-2.0-or-later
# Other users, and a mount by root that is open to them, with a binary that everybody may
# read and one that nobody else may.  Sourced by bats files, behind mount.bash.

# A file with more of its own to do calls users_setup and users_teardown.
setup() {
	users_setup
}

teardown() {
	users_teardown
}

# There may be a file system that never answers.
users_setup() {
	need_mount
	need_root
	make_dirs
}

users_teardown() {
	# first: who waits for it cannot be ended
	[ -z "${slow_pid-}" ] || kill -KILL "$slow_pid" || true
	busy_end
	[ -z "${slow_pid-}" ] || wait "$slow_pid" || true
	abort_mounts
	remove_dirs
}

# Two users that are nobody else.
alice=60001 bob=60002

# as UID COMMAND... in the background, until busy_end.
start_as() {
	busy_start setpriv --reuid="$1" --regid="$1" --clear-groups -- "${@:2}"
}

build_open_and_closed() {
	${CC:-gcc} -O1 -fno-inline -x c -o "$W/open" - <<-'END'
	int plain_work(int n) { return n * 3; }
	int main(int argc, char **argv) { (void)argv; return plain_work(argc); }
	END
	${CC:-gcc} -O1 -fno-inline -x c -o "$W/closed" - <<-'END'
	int hidden_work(int n) { return n * 3; }
	int main(int argc, char **argv) { (void)argv; return hidden_work(argc); }
	END
	chmod 711 "$W/closed"
}

# shared_mount OPTION...: mounts $D at $M for everybody.
shared_mount() {
	"$OPFS" mount --session-dir "$D" "$M" -o allow_other "$@"
}

shared_session() {
	mksession <<-END
	[{"session": "saved", "app": "$W/open",
	 "samples": {"$(offset_of "$W/open" plain_work)": 10}},
	 {"session": "saved", "app": "$W/closed",
	  "samples": {"$(offset_of "$W/closed" hidden_work)": 20}}]
	END
	shared_mount
}

# Whatever waits for a mount below $W is answered with an error.
abort_mounts() {
	local point mounts

	[ -n "${W-}" ] || return 0 # skipped: "/*" would be all mounts there are
	mounts=$(cat /proc/self/mounts) # whole: it changes under who reads on
	while read -r _ point _; do
		case $point in
		"$W"/*) umount -f "$point" 2>/dev/null || true ;;
		esac
	done <<<"$mounts"
}
