#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Directories of processes carry who they were.

bats_require_minimum_version 1.5.0
load ../lib/mount

setup() {
	need_mount
	make_dirs
}

teardown() {
	remove_dirs
}

attributes() {
	python3 - "$1" <<-'END'
		import os, sys
		for name in sorted(os.listxattr(sys.argv[1])):
		    print(name, os.getxattr(sys.argv[1], name).decode())
	END
}

@test "a directory of one process has its name, command line and cgroup" {
	mksession <<-'END'
		{"files": [
		  {"app": "/bin/bash", "tgid": 7, "tid": 7, "samples": {"0x1000": 1}},
		  {"app": "/bin/bash", "image": "/lib/libc.so", "tgid": 7, "tid": 7,
		   "samples": {"0x1000": 2}},
		  {"app": "/bin/bash", "tgid": 7, "tid": 6, "samples": {"0x1000": 1}},
		  {"app": "/bin/srv", "tgid": 8, "tid": 9, "samples": {"0x1000": 1}}],
		 "sessions": {"current": {"tasks": [
		  [7, 7, 100, "sh", "sh -c make", "/a.slice"],
		  [7, 6, 110, "worker", "-", "-"],
		  [8, 8, 50, "srv", "-", "-"]]}}}
	END
	"$OPFS" mount --session-dir "$D" "$M"
	attributes "$M/current/tgid:7" >"$W/got"
	diff -u - "$W/got" <<-'END'
		user.opfs.cgroup /a.slice
		user.opfs.cmdline sh -c make
		user.opfs.comm sh
		user.opfs.percent 80.0000
		user.opfs.samples 4
	END
	[ "$(attributes "$M/current/tid:6" | head -3 | cut -d" " -f2- | paste -sd,)" = \
		"/a.slice,sh -c make,worker" ]
	[ "$(attributes "$M/current/tid:9" | grep -c 'comm srv\|cmdline\|cgroup')" = 1 ]
	for d in "$M/current" "$M/current/tgid:7,8" "$M/current/image:bash"; do
		[ "$(attributes "$d" | wc -l)" = 2 ]
	done
	cp -a "$M/current/tgid:7/summary" "$W/copy"
	[ "$(cd "$M/current/comm" && echo *)" = "sh srv worker" ]
	[ "$(awk -F'\t' 'NR > 1 { n += $5 } END { print n }' \
		"$M/current/comm/sh/report.tsv")" = 3 ]
}
