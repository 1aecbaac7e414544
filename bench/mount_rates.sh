#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# mount_rates.sh BUILD_DIR [SECONDS]: how fast a mounted session is opened, stat'ed and
# listed when warm, beside a FUSE file system that does nothing, in the same run.
set -eu

build=$(realpath "$1")
seconds=${2:-1}
images=1000
top=$(cd "$(dirname "$0")/.." && pwd)
w=$(mktemp -d)
pid=

finish()
{
	umount "$w/opfs" 2>/dev/null || fusermount3 -uz "$w/opfs" 2>/dev/null || true
	[ -z "$pid" ] || { kill "$pid" && wait "$pid"; } 2>/dev/null || true
	rm -rf "$w"
}
trap finish EXIT
trap 'exit 1' INT TERM

mkdir "$w/opfs" "$w/null"
python3 - $images <<'END' | python3 "$top/tests/lib/mksession.py" "$w/data"
import json, sys
print(json.dumps([{"session": "saved", "app": "/bin/app%d" % i,
	"samples": {"0x1000": 1 + i}}
                  for i in range(int(sys.argv[1]))]))
END
"$build/bin/opfs" mount --session-dir "$w/data" "$w/opfs"
read -r _ _ _ size < <("$build/bench/mount_rates" "$w/opfs/saved/image" README 0)
"$build/bench/fuse_null" "$w/null" $images "$size" &
pid=$!
until [ -e "$w/null/d0" ]; do sleep 0.05; done

for _ in 1 2 3; do
	echo "opfs $("$build/bench/mount_rates" "$w/opfs/saved/image" README "$seconds")"
	echo "null $("$build/bench/mount_rates" "$w/null" report "$seconds")"
done | awk -v images=$images -v size="$size" '
	{ n[$1]++; for (i = 2; i < 5; i++) sum[$1, i] += $i }
	END {
		printf "%d files of %d bytes, warm; mean of 3 runs each in turn\n",
			images, size
		printf "%-24s %12s %12s %8s\n", "", "opfs", "empty FUSE", "ratio"
		split("open+read+close a second,stat a second,entries listed a second",
			what, ",")
		for (i = 2; i < 5; i++)
			printf "%-24s %12.0f %12.0f %7.0f%%\n", what[i - 1],
				sum["opfs", i] / 3,
				sum["null", i] / 3, 100 * sum["opfs", i] / sum["null", i]
	}'
