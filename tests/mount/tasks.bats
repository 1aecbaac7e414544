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

# attributes DIRECTORY [UID]
attributes() {
	python3 - "$@" <<-'END'
		import os, sys
		if len(sys.argv) > 2:
		    uid = int(sys.argv[2])
		    os.setgroups([])
		    os.setresgid(uid, uid, uid)
		    os.setresuid(uid, uid, uid)
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
	for d in "$M/current" "$M/current/tgid:7,8"; do
		[ "$(attributes "$d" | wc -l)" = 2 ]
	done
	[ "$(attributes "$M/current/image:bash" | cut -d" " -f1 | paste -sd,)" = \
		user.opfs.path,user.opfs.percent,user.opfs.samples ]
	cp -a "$M/current/tgid:7/summary" "$W/copy"
	[ "$(cd "$M/current/comm" && echo *)" = "sh srv worker" ]
	[ "$(awk -F'\t' 'NR > 1 { n += $5 } END { print n }' \
		"$M/current/comm/sh/report.tsv")" = 3 ]
}

# Two processes, of users 65534 and 1234, in a table that is its owner's and its group's.
two_users() {
	mksession <<-'END'
		{"files": [
		  {"app": "/bin/bash", "tgid": 7, "tid": 7, "samples": {"0x1000": 1}},
		  {"app": "/bin/srv", "tgid": 8, "tid": 9, "samples": {"0x1000": 10}}],
		 "sessions": {"current": {"tasks": [
		  [7, 7, 100, "sh", "sh -c make", "/a.slice", 65534],
		  [8, 8, 50, "srv", "srv --key=secret", "/b.slice", 1234],
		  [8, 9, 60, "worker", "-", "-", "-"]]}}}
	END
	chgrp 4321 "$D/samples/current/tasks"
	chmod 640 "$D/samples/current/tasks"
	chmod 755 "$W"
}

# told COMMAND...: what tasks.tsv tells whoever that runs as.
told() {
	"$@" cat "$M/current/tasks.tsv" | tail -n +2 | tr '\t' '|' >"$W/told"
}

@test "a user is told of his own processes only, whoever asked before" {
	need_root
	two_users
	"$OPFS" mount --session-dir "$D" "$M" -o allow_other
	for _ in 1 2; do
		told env
		diff -u - "$W/told" <<-'END'
			current|7|7|100|sh|sh -c make|/a.slice|1
			current|8|9|60|worker|srv --key=secret|/b.slice|10
		END
		[ "$(cd "$M/current/comm:" && echo *)" = "sh worker" ]
		[ "$(attributes "$M/current/tgid:8" | grep -c secret)" = 1 ]
		ls "$M/current/comm:worker" "$M/current/cgroup:b.slice" >/dev/null

		told as_nobody
		diff -u - "$W/told" <<-'END'
			current|7|7|100|sh|sh -c make|/a.slice|1
			current|8|9|||||10
		END
		[ "$(as_nobody ls "$M/current/comm:")" = sh ]
		[ "$(as_nobody ls "$M/current/cgroup:")" = %2Fa.slice ]
		run as_nobody ls "$M/current/comm:worker"
		[ "$status" != 0 ]
		run as_nobody ls "$M/current/cgroup:b.slice"
		[ "$status" != 0 ]
		as_nobody grep -q . "$M/current/tgid:8/summary"
	done
	run -1 as_nobody grep -q damaged "$M/current/status"
	# a member of the group
	told setpriv --reuid=65533 --regid=65533 --groups=4321
	grep -q secret "$W/told"
	# attributes of a directory go by who asks, too
	attributes "$M/current/tgid:8" 65534 >"$W/got"
	grep -q samples "$W/got"
	run ! grep -q 'secret\|srv\|b.slice' "$W/got"
	attributes "$M/current/tgid:7" 65534 | grep -q 'cmdline sh -c make'
}

@test "without the right to read the table, numbers are what is left" {
	need_root
	two_users
	as_nobody "$OPFS" cat --session-dir "$D" current/tasks.tsv >"$W/told" 2>"$W/said"
	[ ! -s "$W/said" ]
	[ "$(tail -n +2 "$W/told" | tr '\t' '|' | paste -sd' ')" = \
		"current|7|7|||||1 current|8|9|||||10" ]
	as_nobody "$OPFS" cat --session-dir "$D" current/tgid:7/summary >/dev/null
	as_nobody "$OPFS" cat --session-dir "$D" current/status >"$W/status"
	run ! grep -q damaged "$W/status"
}

@test "memory is shown where it was to those who may read the table of regions" {
	need_root
	mksession <<-'END'
		{"files": [{"app": "/bin/srv", "image": "anon:anon:8:5000:5fff",
		  "samples": {"0x10": 1}}]}
	END
	printf '# opfs regions 1\nanon (tgid:8 range:0x5000-0x5fff)\t0x7f0012345000\n' \
		>"$D/samples/current/regions"
	chgrp 4321 "$D/samples/current/regions"
	chmod 640 "$D/samples/current/regions"
	chmod 755 "$W"
	"$OPFS" mount --session-dir "$D" "$M" -o allow_other
	true_range='range:0x7f0012345000-0x7f0012345fff'
	for _ in 1 2; do
		grep -qF $true_range "$M/current/report"
		as_nobody grep -qF 'range:0x5000-0x5fff' "$M/current/report"
		for f in report.json report.xml details status; do
			as_nobody cat "$M/current/$f"
		done >"$W/all"
		grep -q 'anon (tgid:8' "$W/all"
		run ! grep -q 7f0012345 "$W/all"
	done
	setpriv --reuid=65533 --regid=65533 --groups=4321 \
		grep -qF $true_range "$M/current/report"
}
