#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Debug files in the caches of who mounts, and other users who read the mount.

bats_require_minimum_version 1.5.0
load ../lib/opfs
load ../lib/mount
load ../lib/users

# cached NAME STRIP: a program whose function with samples is NAME_work, stripped; its
# debug file is in a cache of who mounts, at $debug.
cached() {
	cat >"$W/$1.c" <<-END
	__attribute__((noinline)) static int $1_work(int n) { return n * 3; }
	int main(int argc, char **argv) { (void)argv; return $1_work(argc); }
	END
	(cd "$W" && ${CC:-gcc} -O1 -g -Wl,--build-id -o full "$1.c")
	cp "$W/full" "$W/$1"
	strip "$2" "$W/$1"
	off=$(offset_of "$W/full" "$1_work")
	id=$(build_id "$W/full")
	debug=$HOME/.cache/debuginfod_client/$id/debuginfo
	mkdir -p "${debug%/*}"
	objcopy --only-keep-debug "$W/full" "$debug"
}

# Two programs, one with names: what a mount knows of that does not expire.
session_of_two() {
	export HOME=$W/home
	unset DEBUGINFOD_CACHE_PATH XDG_CACHE_HOME
	cached bare --strip-all
	bare=$off bare_id=$id closed_file=$debug
	cached named --strip-debug
	closed_dir=${debug%/*}
	chmod -R u=rwX,go=rX "$HOME"
	mksession <<-END
	[{"session": "saved", "app": "$W/bare", "samples": {"$bare": 10}},
	 {"session": "saved", "app": "$W/named", "samples": {"$off": 10}}]
	END
	printf '%s\t%s\t%s\t0\t0\t-\t0\t-\n' "$W/bare" "$W/bare" "$bare_id" \
		"$W/named" "$W/named" "$id" >>"$D/samples/saved/images"
}

# all_of COMMAND...: what COMMAND shows of all that could tell of the debug files.
all_of() {
	"$@" cat "$M"/saved/{report,details,status,report.json,report.xml,report.tsv} \
		"$M"/saved/with:{debug-info,inlines}/report 2>&1
	"$@" ls -R "$M/saved/annotate" "$M/saved/symbol:" 2>&1
	"$@" tar tf "$M/saved/archive.tar" 2>&1
}

tells_lines() {
	"$@" cat "$M/saved/with:debug-info/report" | awk '
		/bare\.c:1 / { b = 1 } /named\.c:1 / { n = 1 } END { exit !(b && n) }'
}

@test "names and lines in a cache of who mounts are for those who may read it there" {
	session_of_two
	chmod 600 "$closed_file"
	chmod 700 "$closed_dir"
	shared_mount
	for round in 1 2; do
		run all_of as_nobody
		[[ $output == *named_work* ]]
		[[ $output != *bare_work* && $output != *bare.c* ]]
		[[ $output != *named.c* ]]
		tells_lines env
		run all_of env
		[[ $output == *bare_work* && $output == *bare.c* ]]
		[[ $output == *named_work* && $output == *named.c* ]]
	done
	# once they may, they see it
	chmod 644 "$closed_file"
	chmod 755 "$closed_dir"
	wait_for tells_lines as_nobody
}
