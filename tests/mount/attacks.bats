#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What users try on a mount by root to see what is closed to them, or to be in the way of
# others.

bats_require_minimum_version 1.5.0
load ../lib/opfs
load ../lib/mount
load ../lib/users
load ../lib/slowfs

setup_file() {
	build_slowfs
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

@test "no spelling of a closed session shows anything of it" {
	secret_session 700
	for maker in 0 $alice $bob; do
		ln -s Secret-7 "$D/samples/by$maker"
		chown -h "$maker" "$D/samples/by$maker"
	done
	shared_mount
	cat "$M/Secret-7/report" "$M/session:*/summary" >/dev/null
	as $bob /usr/bin/python3 - "$M" "$D" >"$W/seen" <<-'END'
	import os, sys
	top, data = sys.argv[1:]
	s = "Secret-7"
	every = "".join("%%%02X" % c for c in s.encode())
	host = data.replace("/", "%2F") + "%2Fsamples%2F" + s
	names = [s, s.lower(), every, every.lower(), "Secret%2D7", "%2553ecret-7",
	         s + ".", s + " ", " " + s, s + "%2F.", ".%2F" + s, "..%2Fsamples%2F" + s,
	         "pub1%2F..%2F" + s, s + "%00", s + "\n", s + ",", "\\" + s, s + "\\",
	         "Secret*", "S*,pub1", "*", "[S]*", "?ecret-7", "all", "pub1," + s,
	         "pub1\\," + s, "last:500w", "time:2000-01-01..now", "by0", "by60001",
	         "by60002", "by*", "session:" + s, "%5C" + s, host, "Secret-%37"]
	before = ["", "session:", "session/", "session:/", "session-exclude:",
	          "session-exclude:pub1/session:", "pub1/", "pub1/session:", "pub1/../",
	          "diff:", "pub1/diff:", "pub1/diff/", "pub1/root:", "pub1/search-dirs:",
	          "image:", "lib-image:", "pub1/image:", "comm:", "tgid:"]
	paths = [b + n for b in before for n in names]
	paths += ["last:500w", "last:/9999d", "time:-9999d..now", "", "session:", "last:",
	          "last:500w/session-exclude:pub1", "diff:", "pub1/diff:", "symbol:",
	          "current", "time:2000-01-01..now/diff:last:500w"]
	seen = 0

	def look(path):
	    print(os.stat(path).st_size)
	    for name in os.listxattr(path):
	        print(os.getxattr(path, name))
	    if not os.path.isdir(path):
	        with open(path, "rb") as f:
	            print(f.read(1 << 16))
	        return
	    for name in os.listdir(path):
	        print(name)

	for path in paths:
	    path = os.path.join(top, path)
	    for more in "", "summary", "report", "status", "image:", "comm:":
	        try:
	            look(os.path.join(path, more))
	            seen += 1
	        except OSError as e:
	            print(e.strerror)
	            if not more:
	                break
	look(os.path.join(top, "status"))
	print("seen", seen)
	END
	[ "$(sed -n 's/^seen //p' "$W/seen")" -gt 100 ]
	! grep -n -e MARK -e 7654321 -e 7654331 "$W/seen" || return 1
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
		wait_for refused as $bob stat "$M/Secret-7"
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

# stands UID PATH FIRST...: waits in PATH, after a look at what is called FIRST in it,
# until $W/out/UID.go is there, and tells in UID.got which directories that user gets.
stands() {
	start_as "$1" /usr/bin/python3 -c '
import os, sys, time
os.chdir(sys.argv[2])
here = "%s/%d" % (sys.argv[1], os.getuid())
for name in sys.argv[3:]:
    os.stat(name)
open(here + ".stands", "w").close()
while not os.path.exists(here + ".go"):
    time.sleep(0.1)
got = []
for name in "event", "image", "event:", "image:", "event:CPU_CLK_UNHALTED":
    try:
        os.stat(name)
        got.append(name)
    except PermissionError:
        pass
with open(here + ".new", "w") as f:
    f.write(" ".join(got) + "\n")
os.rename(here + ".new", here + ".got")
' "$W/out" "${@:2}"
	wait_for test -e "$W/out/$1.stands"
}

# What UID, who stands somewhere, gets now.
gets() {
	touch "$W/out/$1.go"
	wait_for test -e "$W/out/$1.got"
	cat "$W/out/$1.got"
	rm "$W/out/$1".*
}

# Its path is not looked up meanwhile: the kernel would forget what is below.
@test "a session that is closed is closed to those as well who stand in it" {
	local what

	secret_session 755
	mkdir -m 777 "$W/out"
	shared_mount
	for what in Secret-7 session:Secret-7; do
		stands $bob "$M/$what" event image event: image: event:CPU_CLK_UNHALTED
		chmod 700 "$D/samples/Secret-7" "$D/samples/pub1"
		wait_for refused as $bob stat "$M/pub1"
		[ "$(gets $bob)" = "" ]
		chmod 755 "$D/samples/Secret-7" "$D/samples/pub1"
		wait_for as $bob stat "$M/pub1"
		wait_for as $bob stat "$M/Secret-7"
	done
}

@test "a session that is closed to its group alone is told to nobody of it" {
	local member what

	secret_session 755
	chgrp 61000 "$D/samples/Secret-7"
	chmod 705 "$D/samples/Secret-7"
	shared_mount
	member=(setpriv --reuid=$bob --regid=$bob --groups=61000 --)
	for what in Secret-7 Secret-7/image: session:Secret-7; do
		as $bob stat "$M/$what"
		refused "${member[@]}" stat "$M/$what"
	done
	as $bob stat "$M/Secret-7"
	refused "${member[@]}" stat "$M/Secret-7"
}

@test "what its owner looks up in a closed session is not told to who stands there, too" {
	secret_session 755
	mkdir -m 777 "$W/out"
	shared_mount
	cat "$M/Secret-7/summary" "$M/pub1/summary" >"$W/summary"
	stands $alice "$M/Secret-7" summary
	stands $bob "$M/Secret-7" summary
	chmod 700 "$D/samples/Secret-7" "$D/samples/pub1"
	wait_for refused as $bob stat "$M/pub1"
	[ "$(gets $alice)" = "event image event: image: event:CPU_CLK_UNHALTED" ]
	[ "$(gets $bob)" = "" ]
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

@test "a mount whose /proc is of another PID namespace takes nobody for another" {
	need_mount_namespace
	group_session
	cat >"$W/inner" <<-'END'
	# the search for leaks needs a /proc of its own
	export ASAN_OPTIONS="${ASAN_OPTIONS-}:detect_leaks=0"
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

# odd_names: sessions, programs, threads and groups with every byte that names can have.
odd_names() {
	python3 - "$W" <<-'END' >"$W/told.json"
	import json, os, sys
	odd = [c for c in range(1, 256) if c != ord("/")]
	parts = [os.fsdecode(bytes(odd[i::16])) for i in range(16)]
	parts += ["".join(map(chr, range(0x80, 0xa0))) + "end"]
	alone = [os.fsdecode(bytes([c])) for c in range(1, 33)] + ["%", ":", "~", "\x7f"]
	files = [{"app": "/x/a" + p, "escape": True, "tgid": 100 + i, "tid": 100 + i,
	          "samples": {"0x10": 3}} for i, p in enumerate(parts + alone)]
	files += [{"session": p, "app": sys.argv[1] + "/" + "open"}
	          for p in parts + alone]
	rows = [[100 + i, 100 + i, 1] + 3 * ["".join("%%%02X" % c for c in b)]
	        for i, b in enumerate(map(os.fsencode, parts + alone))]
	json.dump({"files": files, "sessions": {"current": {"tasks": rows}}}, sys.stdout)
	END
}

@test "with every byte in names what is listed is there, and texts are plain" {
	cp /bin/true "$W/open"
	odd_names
	mksession "$W/told.json"
	chmod a+r "$D/samples/current/tasks"
	shared_mount
	as $bob /usr/bin/python3 - "$M" >"$W/seen" <<-'END'
	import os, stat, sys
	top = os.fsencode(sys.argv[1])
	seen = 0

	def plain(what, data):
	    if what.endswith((b"json", b"xml")):
	        return # for programs
	    for c in data.decode(errors="ignore"):
	        assert c in "\t\n" or not (c < " " or "\x7f" <= c < "\xa0"), (what, c)

	def look(folder, deep):
	    global seen
	    for name in os.listdir(folder):
	        path = folder + b"/" + name
	        plain(folder, name)
	        assert b"\n" not in name and b"\t" not in name
	        if name in (b"archive.tar", b"gmon.out", b"events"):
	            continue
	        mode = os.lstat(path).st_mode
	        seen += 1
	        if stat.S_ISREG(mode):
	            with open(path, "rb") as f:
	                plain(path, f.read())
	        elif stat.S_ISDIR(mode) and deep:
	            look(path, deep - 1)

	look(top, 0)
	for tag in b"image:", b"comm:", b"cgroup:", b"tgid:", b"lib-image:":
	    look(top + b"/current/" + tag, 0)
	look(top + b"/current", 0)
	look(top + b"/session:", 0)
	for folder in b"", b"/current", b"/current/image:":
	    for c in range(1, 256):
	        for name in bytes([c]), b"image:" + bytes([c]) + b"*":
	            try:
	                os.lstat(top + folder + b"/" + name)
	            except OSError:
	                pass
	for c in range(0x80, 0xa0):
	    assert not os.path.exists(top + b"/" + chr(c).encode())
	with open(top + b"/status", "rb") as f:
	    plain(b"status", f.read())
	print("seen", seen)
	END
	cat "$W/seen"
	[ "$(sed -n 's/^seen //p' "$W/seen")" -gt 300 ]
}

# Binaries in $W/bin whose packed sections claim much, and hold it or do not.
bombs() {
	cat >"$W/p.c" <<-'END'
	int work(int n) { return n * 3; }
	int main(int c) { return work(c); }
	END
	${CC:-gcc} -g -O1 -o "$W/p" "$W/p.c"
	mkdir "$W/bin"
	head -c 300M /dev/zero | xz -0 >"$W/zeros.xz"
	objcopy --add-section ".gnu_debugdata=$W/zeros.xz" "$W/p" "$W/bin/xz"
	strip "$W/bin/xz"
	python3 - "$W" <<-'END'
	import struct, sys, zlib
	top = sys.argv[1]
	with open(top + "/p", "rb") as f:
	    elf = f.read()
	heads, = struct.unpack_from("<Q", elf, 40)
	nr, names = struct.unpack_from("<HH", elf, 60)
	names, = struct.unpack_from("<Q", elf, heads + 64 * names + 24)

	def zeros(mib):
	    z = zlib.compressobj()
	    whole = z.compress(b"") + z.flush(zlib.Z_FULL_FLUSH)
	    piece = z.compress(bytes(1 << 20)) + z.flush(zlib.Z_FULL_FLUSH)
	    return whole + piece * mib + z.flush()

	def write(file, section, kind, claims, holds):
	    data = struct.pack("<IIQQ", kind, 0, claims, 1) + holds
	    out = bytearray(elf)
	    for at in range(heads, heads + 64 * nr, 64):
	        name = names + struct.unpack_from("<I", elf, at)[0]
	        if elf[name:elf.index(0, name)].decode() == section:
	            flags, = struct.unpack_from("<Q", elf, at + 8)
	            struct.pack_into("<Q", out, at + 8, flags | 0x800)
	            struct.pack_into("<QQ", out, at + 24, len(elf), len(data))
	    with open("%s/bin/%s" % (top, file), "wb") as f:
	        f.write(out + data)

	for section in "info", "line", "str", "abbrev":
	    for kind in 1, 2:
	        write("%s-max%d" % (section, kind), ".debug_" + section, kind, 2**64 - 1,
	              zeros(1))
	        write("%s-few%d" % (section, kind), ".debug_" + section, kind, 1 << 20,
	              zeros(2048))
	    write(section + "-much", ".debug_" + section, 1, 2 << 30, zeros(2048))
	END
}

@test "packed sections that claim gigabytes cost their own names and nothing else" {
	local at f

	bombs
	at=$(offset_of "$W/p" work)
	for f in "$W"/bin/*; do echo "${f##*/}"; done | jq -R . | jq -s --arg at "$at" \
		--arg w "$W/bin" \
		'map({session: ., app: "\($w)/\(.)", samples: {($at): 7}})' \
		>"$W/told.json"
	mksession "$W/told.json"
	shared_mount
	for f in "$W"/bin/*; do
		f=${f##*/}
		as $bob cat "$M/$f/with:debug-info/report" >"$W/out"
		case $f in
		xz)
			grep -q '^7 .*xz' "$W/out"
			as $bob grep -q 'unresolved: .*: 7 .*no symbols' \
				"$M/$f/status"
			;;
		*)
			grep -q '^7 .*work' "$W/out"
			as $bob grep -rh '' "$M/$f/annotate" >"$W/out"
			[[ $f == str-* ]] || grep -q 'lines are missing' "$W/out"
			;;
		esac
	done
	as $alice cat "$M/status" >"$W/out"
}

# A session of bob's for each packing, whose kernel module is $1.ko.PACKING.
packed_modules() {
	local session way

	for way in gz xz zst; do
		session=$D/samples/$1-$way
		jq -n --arg s "$1-$way" '[{session: $s, app: "kern:mod", kernel: true,
			escape: true, samples: {"0x2": 7}}]' | mksession
		printf '# opfs images 1\n/mod\t%s\t-\t0\t0\t-\t0\t-\n' \
			"$W/$1.ko.$way" >"$session/images"
		chown -R $bob "$session"
	done
}

@test "kernel modules that unpack to more than a job may have cost their names only" {
	local way zeros=$((700 << 20))

	${CC:-gcc} -O1 -c -x c -o "$W/small.ko" - <<<'int work(int n) { return n * 3; }'
	for way in 'gzip -1' 'xz -0' 'zstd -q'; do
		$way -k "$W/small.ko"
		head -c $zeros /dev/zero | cat "$W/small.ko" - | $way >"$W/big.${way%% *}"
	done
	mv "$W/big.gzip" "$W/big.ko.gz"
	mv "$W/big.xz" "$W/big.ko.xz"
	mv "$W/big.zstd" "$W/big.ko.zst"
	packed_modules small
	packed_modules big
	shared_mount
	for way in gz xz zst; do
		as $alice cat "$M/big-$way/report" >"$W/out"
		grep -q '^7 ' "$W/out"
	done
	as $alice cat "$M/big-zst/status" >"$W/out"
	grep -q 'unresolved: /mod: 7 .*unpacks to more than' "$W/out"
	for way in gz xz zst; do
		as $alice cat "$M/small-$way/report" >"$W/out"
		grep -q '^7 .*work$' "$W/out"
	done
}

# So many requests wait for the mount's answers.
waiting() {
	local at=/sys/fs/fuse/connections

	mountpoint -q $at || mount -t fusectl none $at
	[ "$(cat "$at/$(mountpoint -d "$M" | cut -d: -f2)/waiting")" = "$1" ]
}

@test "who waits for a file system that never answers ends with a signal" {
	local nr=0 pid rc signal slow=$W/slow/mnt ways

	slow "$W/slow"
	cp /bin/true "$W/slow/real/p"
	ln -s p "$W/slow/real/link"
	seq 20 | jq -s --arg p "$slow/p" 'map({session: "s\(.)", app: $p,
		samples: {"0x1100": 1}})' >"$W/told.json"
	mksession "$W/told.json"
	shared_mount
	answers never
	# shellcheck disable=SC2016 # for the other shell
	ways=('stat report' 'cat report' 'ls symbol:' 'stat symbol:main' 'ls symbol:main/'
		'cat symbol:main/report' 'stat "image:${slow//\//%2F}%2Flink/report"'
		'/usr/bin/python3 -c "import os
os.getxattr(\"symbol:main\", \"user.opfs.samples\")"')
	for signal in INT KILL; do
		for way in "${ways[@]}"; do
			# each is another user: one may wait for two files only
			env --default-signal=INT setpriv --reuid=$((60100 + ++nr)) \
				--regid=60001 --clear-groups bash -c \
				"slow=$slow; cd $M/s$nr && exec $way" \
				>/dev/null 2>&1 3>&- &
			pid=$!
			wait_for waiting 1
			kill -$signal $pid
			rc=0
			wait $pid || rc=$?
			echo "$way: $rc"
			[ $rc = $((128 + $(kill -l $signal))) ]
			wait_for waiting 0
		done
	done
}
