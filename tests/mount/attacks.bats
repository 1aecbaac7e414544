#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What users try on a mount by root to see what is closed to them, or to be in the way of
# others.

bats_require_minimum_version 1.5.0
load ../lib/opfs
load ../lib/mount
load ../lib/users

setup() {
	users_setup
}

teardown() {
	users_teardown
}

# A session of alice's that only she may read, "Secret-7", among others that all may read;
# $1: its mode.  All of it that may show anywhere is called MARK, or is 7654321.
secret_session() {
	cp /bin/true "$W/MARK"
	cp /bin/true "$W/plain"
	jq -n --arg w "$W" --arg now "$(date +%s)" '($now | tonumber) as $now | {
		files: (["pub1", "pub2", "Secret-7"] | map({
			session: ., app: "\($w)/\(if . == "Secret-7" then "MARK"
				else "plain" end)",
			samples: {"0x1100": (if . == "Secret-7" then 7654321
				else 5 end)}})),
		sessions: (["pub1", "pub2", "Secret-7"] | map({key: ., value: {
			started: ($now - 100), live: [1, $now * 1000000000, "closed"],
			tasks: (if . == "Secret-7" then
				[[1, 1, 1, "MARK", "MARK", "/MARK"]] else [] end),
			manifest: [["session", .]]}}) | from_entries)
	}' >"$W/told.json"
	mksession "$W/told.json"
	chown -R $alice "$D/samples/Secret-7"
	chmod "$1" "$D/samples/Secret-7"
}

@test "a sum of sessions is of those that the user may see, whoever asked before" {
	local first sum who told

	secret_session 700
	for first in $alice $bob; do
		shared_mount
		for sum in 'session:*' 'session:[Sp]*' last:500w; do
			for who in "$first" $((alice + bob - first)); do
				told=$((who == alice))
				run -0 as "$who" stat -c %s "$M/$sum"
				[ "$output" = $((10 + told * 7654321)) ]
				as "$who" ls "$M/$sum/image:" >"$W/list"
				[ "$(grep -c MARK "$W/list")" = $told ]
				as "$who" cat "$M/$sum/summary" >"$W/summary"
				[ "$(grep -c MARK "$W/summary")" = $told ]
			done
		done
		as "$alice" grep -q MARK "$M/pub1/diff:*/summary"
		[ -z "$(as "$bob" grep MARK "$M/pub1/diff:*/summary")" ]
		unmount "$M"
	done
}

# knows SESSION: a program of bob's that has all of it open, as far as the mount need not
# have made it; for each line of input it tells what it still gets.
knows() {
	as $bob /usr/bin/python3 -c '
import errno, os, sys
top = sys.argv[1]
files = ["report", "summary", "status", "report.tsv", "details", "archive.tar"]
dirs = ["", "image:", "image", "symbol:", "annotate", "more", "event:"]
closed = [os.open(os.path.join(top, d), os.O_PATH) for d in dirs + files]
opened = [os.open(os.path.join(top, d), os.O_RDONLY) for d in dirs]
os.chdir(top)
with open("summary") as f:
    f.read()
os.stat("status")

def again(fd):
    path = "/proc/self/fd/%d" % fd
    return os.listdir(path) if os.path.isdir(path) else open(path).read()

ways = ([lambda fd=fd: again(fd) for fd in closed] +
        [lambda fd=fd: os.listdir(fd) for fd in opened] +
        [lambda fd=fd: os.listxattr(fd) and os.getxattr(fd, "user.opfs.samples")
         for fd in opened] +
        [lambda name=n: os.stat(name) for n in files] +
        [lambda fd=fd: os.stat("image:MARK", dir_fd=fd) for fd in opened[:1]])
print("ready", flush=True)
for line in sys.stdin:
    got = []
    for i, way in enumerate(ways):
        try:
            way()
            got.append(str(i))
        except OSError as e:
            if e.errno != errno.EACCES:
                got.append("%d:%s" % (i, errno.errorcode[e.errno]))
    print(len(ways), "ways,", " ".join(got) or "none", flush=True)
' "$M/$1"
}

not_for_bob() {
	! as $bob stat "$1" >/dev/null 2>&1
}

@test "a session that is closed is closed to those as well who know it already" {
	local what line pid

	secret_session 755
	for what in "$D/samples/Secret-7" "$D/samples" "$D"; do
		shared_mount
		coproc knower { knows Secret-7; }
		pid=$knower_PID
		read -r line <&"${knower[0]}"
		[ "$line" = ready ]
		chmod 700 "$what"
		wait_for not_for_bob "$M/Secret-7"
		echo >&"${knower[1]}"
		read -r line <&"${knower[0]}"
		echo "$what: $line"
		[ "$line" = "34 ways, none" ]
		exec {knower[1]}>&-
		wait "$pid"
		chmod 755 "$what"
		wait_for as $bob stat "$M/Secret-7"
		unmount "$M"
	done
}

# A binary, and a session of it, that group 61000 may read besides root.
group_session() {
	build_open_and_closed
	chgrp 61000 "$W/closed"
	chmod 750 "$W/closed"
	mksession <<-END
	[{"session": "saved", "app": "$W/closed",
	 "samples": {"$(offset_of "$W/closed" hidden_work)": 20}}]
	END
}

# reader GROUPS COMMAND...: runs it as alice, in these groups as well.
reader() {
	setpriv --reuid=$alice --regid=$alice --groups="$1" -- "${@:2}"
}

@test "a reader has his own groups in whatever namespaces or root directory he is" {
	local way told

	need_mount_namespace
	need_user_namespace
	group_session
	shared_mount
	mkdir "$W/other" "$W/root"
	# shellcheck disable=SC2016 # for the other shells
	for way in 'exec cat "$M/saved/report"' \
		'exec unshare -Ur cat "$M/saved/report"' \
		'exec unshare -Urmpf cat "$M/saved/report"' \
		'exec unshare -Urm sh -c "mount --bind $M $W/other &&
			cat $W/other/saved/report"'; do
		for told in 61000 61001; do
			reader $told sh -c "$way" >"$W/out"
			[ "$(grep -c hidden_work "$W/out")" = $((told == 61000)) ]
			unshare -pf --mount-proc setpriv --reuid=$alice --regid=$alice \
				--groups=$told sh -c "$way" >"$W/out"
			[ "$(grep -c hidden_work "$W/out")" = $((told == 61000)) ]
		done
	done
	for told in 61000 61001; do
		# shellcheck disable=SC2016
		unshare -m sh -c 'for d in usr bin lib lib64; do
				mkdir -p "$W/root/$d" && mount --rbind "/$d" "$W/root/$d"
			done
			mkdir -p "$W/root/mnt" && mount --bind "$M" "$W/root/mnt"
			exec chroot --userspec=$1:$1 --groups=$2 "$W/root" \
				/bin/cat /mnt/saved/report' sh $alice $told >"$W/out"
		[ "$(grep -c hidden_work "$W/out")" = $((told == 61000)) ]
	done
}

@test "a mount whose /proc is of another PID namespace takes nobody for another process" {
	need_mount_namespace
	group_session
	cat >"$W/inner" <<-'END'
	"$OPFS" mount -f --session-dir "$D" "$M" -o allow_other &
	until mountpoint -q "$M"; do sleep 0.05; done
	for i in $(seq 40); do
		setpriv --reuid=60001 --regid=60001 --clear-groups cat "$M/saved/report"
	done
	umount "$M"
	wait
	END
	cat >"$W/outer" <<-'END'
	for i in $(seq 100); do
		setpriv --reuid=60003 --regid=60003 --groups=61000 sleep 600 &
	done
	unshare -pf sh "$W/inner"
	END
	# all of it ends with the first process of the namespace
	OPFS=$OPFS timeout 300 unshare -pf --mount-proc --kill-child sh "$W/outer" \
		>"$W/out" 3>&-
	[ "$(grep -c hidden_work "$W/out")" = 0 ]
	[ "$(grep -c closed "$W/out")" = 40 ]
}
