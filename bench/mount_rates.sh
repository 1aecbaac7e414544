#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# mount_rates.sh BUILD_DIR [SECONDS]: what it takes to open, read and close, to stat and
# to list files of a mounted session, beside a FUSE file system that does nothing, in one
# run.  Cold: everything once, on a mount that has just been made, so that opfs makes all
# reports.  Warm: it was read before.  "For all" is a mount with allow_other.  Then what
# a megabyte of a long text takes that the kernel has not in its cache.
set -eu

build=$(realpath "$1")
seconds=${2:-0.3}
images=1000 runs=5
top=$(cd "$(dirname "$0")/.." && pwd)
w=$(mktemp -d)
pid=

leave()
{
	umount "$w/m" 2>/dev/null || fusermount3 -uz "$w/m" 2>/dev/null || true
	[ -z "$pid" ] || wait "$pid" || true
	pid=
}

finish()
{
	leave
	rm -rf "$w"
}
trap finish EXIT
trap 'exit 1' INT TERM

# enter opfs|all|null: mounts one of them; sets $pid, $at, $file and $names.
enter()
{
	at=$w/m/saved/image file=README names=$w/apps
	case $1 in
	large)
		at=$w/m/current file=details names=$w/here
		"$build/bin/opfs" mount -f --session-dir "$w/large" "$w/m" &
		;;
	opfs) "$build/bin/opfs" mount -f --session-dir "$w/data" "$w/m" & ;;
	all) "$build/bin/opfs" mount -f -o allow_other --session-dir "$w/data" "$w/m" & ;;
	null)
		at=$w/m file=report names=$w/dirs
		"$build/bench/fuse_null" "$w/m" $images "$size" &
		;;
	esac
	pid=$!
	until mountpoint -q "$w/m"; do
		kill -0 $pid
		sleep 0.02
	done
}

# measure WHAT SECONDS READERS
measure()
{
	"$build/bench/mount_rates" "$at" $file "$1" "$2" "$3" $pid <"$names"
}

mkdir "$w/m"
seq -f app%g 0 $((images - 1)) >"$w/apps"
seq -f d%g 0 $((images - 1)) >"$w/dirs"
echo . >"$w/here"
python3 - $images <<'END' | python3 "$top/tests/lib/mksession.py" "$w/data"
import json, sys
print(json.dumps([{"session": "saved", "app": "/bin/app%d" % i,
	"samples": {"0x1000": 1 + i}}
                  for i in range(int(sys.argv[1]))]))
END
size=0
enter opfs
read -r _ _ size < <(measure open 0 1)
leave

for run in $(seq $runs); do
	for fs in opfs all null; do
		for readers in 1 16; do
			for what in open stat list; do
				enter $fs
				# the catalog is no part of it
				[ $fs = null ] || [ -d "$at" ]
				echo "$what cold $readers $fs $(measure $what 0 $readers)"
				measure $what 0 1 >/dev/null
				echo "$what warm $readers $fs" \
					"$(measure $what "$seconds" $readers)"
				leave
			done
		done
	done
done | sort -s -k1,4 | python3 -c '
import itertools, statistics, sys
rows = [line.split() for line in sys.stdin]
figures = {}
for key, lines in itertools.groupby(rows, lambda r: tuple(r[:4])):
    lines = list(lines)
    figures[key] = [statistics.median(float(r[i]) for r in lines) for i in (4, 5)]
images, size, runs = sys.argv[1:]
print("%s files of %s bytes; medians of %s runs, a mount each; load %s"
      % (images, size, runs, open("/proc/loadavg").read().split()[0]))
print("%-34s %31s   %31s" % ("", "times a second", "microseconds of CPU each time"))
print("%-34s %s   %s" % ("", *2 * ["%7s %7s %7s %7s" % ("empty", "opfs", "ratio",
                                                       "for all")]))
for what, text in (("open", "open+read+close"), ("stat", "stat"),
                   ("list", "list of all")):
    for state in ("warm", "cold"):
        for readers in ("1", "16"):
            null, opfs, every = (figures[what, state, readers, fs]
                                 for fs in ("null", "opfs", "all"))
            print("%-34s %7.0f %7.0f %6.0f%% %7.0f   %7.2f %7.2f %6.0f%% %7.2f"
                  % ("%s, %s, %s reader%s" % (text, state, readers,
                                              "s" * (readers != "1")),
                     null[0], opfs[0], 100 * opfs[0] / null[0], every[0],
                     null[1], opfs[1], 100 * opfs[1] / null[1], every[1]))
' $images "$size" $runs

python3 "$top/bench/mklarge.py" "$w/large" 10 30 3000 >/dev/null
enter large
cat "$at/$file" >"$w/plain"
images=1 size=$(stat -c %s "$w/plain")
leave
head -n 1 "$w/dirs" >"$w/first"
for run in $(seq $runs); do
	for fs in large null; do
		enter $fs
		[ $fs = large ] || names=$w/first
		measure open 0 1 >/dev/null
		echo "$fs $(measure read "$seconds" 1)"
		leave
	done
	at=$w file=plain names=$w/here pid=$$
	echo "plain $(measure open "$seconds" 1)"
	pid=
done | python3 -c '
import statistics, sys
cost = {}
for line in sys.stdin:
    fs, _, us, size = line.split()
    cost.setdefault(fs, []).append(float(us) / int(size) * 1e6)
us = {fs: statistics.median(cost[fs]) for fs in cost}
print("text of %d MB, microseconds of CPU a MB: plain file in the cache %.0f, empty FUSE "
      "%.0f, opfs %.0f, ratio %.0f%%"
      % (int(size) // 1000000, us["plain"], us["null"], us["large"],
         100 * us["large"] / us["null"]))
'
