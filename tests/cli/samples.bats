#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Sample files: what libspec writes and reads, against a reader that shares no code with
# it.

bats_require_minimum_version 1.5.0
load ../lib/need

FILE='{root}/a/{dep}/{root}/a/E.1.0.all.all.all'

setup_file()
{
	# shellcheck disable=SC2086 # words on purpose
	${CC:-gcc} -std=gnu17 -g -D_GNU_SOURCE ${OPFS_SAN:+-fsanitize=$OPFS_SAN} \
		-I"$OPFS_TOP" \
		-o "$BATS_FILE_TMPDIR/samples" "$OPFS_TOP/tests/tools/samples.c" \
		"$OPFS_BIN/../lib/libspec.a" "$OPFS_BIN/../lib/base.a"
}

setup()
{
	SESSION=$BATS_TEST_TMPDIR/samples/current
	mkdir -p "$SESSION"
}

samples()
{
	"$BATS_FILE_TMPDIR/samples" "$@"
}

# The independent reader.
reader()
{
	python3 "$OPFS_TOP/tests/lib/opsamples.py" "$@"
}

# Its totals as samples(1) prints them.
reader_lines()
{
	reader totals "$1" | python3 -c '
import json, sys
KEYS = ("session", "path", "app", "image", "callee", "event", "count", "unit_mask",
  "tgid",
        "tid", "cpu", "nodes", "samples")
for row in json.load(sys.stdin):
    print(*("-" if row[key] is None else row[key] for key in KEYS), sep="\t")'
}

field()
{
	reader check "$BATS_TEST_TMPDIR" | python3 -c "import json, sys
print(json.load(sys.stdin)['$1'])"
}

@test "both readers find in the reference session what it is known to hold" {
	tar -C "$BATS_TEST_TMPDIR" \
		--no-same-owner -xJf "$OPFS_TOP/tests/data/opdemo.tar.xz"
	s1=$BATS_TEST_TMPDIR/opt/opdemo/s1
	reader check "$s1" >"$BATS_TEST_TMPDIR/check"
	samples totals "$s1" | sort >"$BATS_TEST_TMPDIR/ours"
	reader_lines "$s1" | sort >"$BATS_TEST_TMPDIR/theirs"
	diff "$BATS_TEST_TMPDIR/ours" "$BATS_TEST_TMPDIR/theirs"
	python3 - "$s1/expect.json" "$BATS_TEST_TMPDIR/ours" <<-'END'
	import json, re, sys

	def shown(image):
	    anon = re.match(r"\{anon:(.*)\}/(\d+)\.(\w+)\.(\w+)/$", image)
	    if anon:
	        return "%s (tgid:%s range:%s-%s)" % anon.groups()
	    return re.sub(r"^\{kern\}(.*)/$", r"\1", image)

	expect = json.load(open(sys.argv[1]))
	want = {(app, shown(image), event): n for app, image, event, n in expect["image"]}
	got, files, nodes = {}, 0, 0
	for line in open(sys.argv[2]):
	    row = line.rstrip("\n").split("\t")
	    if row[0] != "current":
	        continue
	    files, nodes = files + 1, nodes + int(row[11])
	    if row[4] == "-":
	        key = row[2], row[3], row[5]
	        got[key] = got.get(key, 0) + int(row[12])
	assert got == want, (got, want)
	assert (files, nodes) == (expect["files"], expect["nodes"]), (files, nodes)
	END
}

@test "the abi file is the one that operf wrote" {
	tar -C "$BATS_TEST_TMPDIR" \
		--no-same-owner -xJf "$OPFS_TOP/tests/data/opdemo.tar.xz"
	samples abi "$BATS_TEST_TMPDIR"
	diff "$BATS_TEST_TMPDIR/opt/opdemo/s1/abi" "$BATS_TEST_TMPDIR/abi"
}

@test "a file of 100,000 keys is sound for an independent reader" {
	python3 -c '
import random
random.seed(1)
for i in range(150000):
    print(random.randrange(100000) << random.choice((0, 12, 32)), 1 + i % 3)' |
		tee "$BATS_TEST_TMPDIR/keys" | samples add "$SESSION" "$FILE"
	[ "$(field bad)" = "[]" ]
	[ "$(field total)" = \
		"$(awk '{ n += $2 } END { print n }' "$BATS_TEST_TMPDIR/keys")" ]
	[ "$(field nodes)" = "$(awk '{ print $1 }' "$BATS_TEST_TMPDIR/keys" | sort -u |
		wc -l)" ]
}

@test "escaped names mean the same to both readers" {
	: >"$SESSION/images"
	local anonymous='{dep}/{anon:[vdso]}/1.0x1.0x2/{cg}/{anon:anon}/1.0x3.0x4'
	for name in '{root}/%7Bdep}/{dep}/{root}/%25%7Bx/a%2Eb.1.0.2.3.4' \
		'{root}/%7Ba/{dep}/{kern}/ext4/{cg}/{root}/no-vmlinux/E.1.0.all.all.all' \
		"{root}/a/$anonymous/E.1.0.all.all.0"
	do
		echo 1 1 | samples add "$SESSION" "$name"
	done
	samples totals "$BATS_TEST_TMPDIR" | sort >"$BATS_TEST_TMPDIR/ours"
	reader_lines "$BATS_TEST_TMPDIR" | sort >"$BATS_TEST_TMPDIR/theirs"
	diff "$BATS_TEST_TMPDIR/ours" "$BATS_TEST_TMPDIR/theirs"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/ours")" = 3 ]
	grep -q '/{dep}	/%7Bx	-	a.b	' "$BATS_TEST_TMPDIR/ours"
}

@test "the independent reader finds what is wrong" {
	seq 1 100 | sed 's/$/ 1/' | samples add "$SESSION" "$FILE"
	cp "$SESSION/$FILE" "$BATS_TEST_TMPDIR/sound"
	reader check "$BATS_TEST_TMPDIR"
	# a chain that ends in itself; a slot that leads elsewhere; an unknown node
	for at in 1644 2156 76; do
		printf '\144' | dd of="$SESSION/$FILE" bs=1 seek=$at conv=notrunc \
			status=none
		run -1 reader check "$BATS_TEST_TMPDIR"
		cp "$BATS_TEST_TMPDIR/sound" "$SESSION/$FILE"
	done
}

# on_small_disk SCRIPT: runs it in bash in a file system of 256 KiB, with the functions
# and variables above, and the keys 1..20000 and 1..50 again in $KEYS.
on_small_disk()
{
	need_mount_namespace
	export KEYS=$BATS_TEST_TMPDIR/keys SMALL=$BATS_TEST_TMPDIR/small FILE
	mkdir "$SMALL"
	{ seq 1 20000; seq 1 50; } | sed 's/$/ 1/' >"$KEYS"
	export -f samples reader
	export BATS_FILE_TMPDIR
	# shellcheck disable=SC2016 # for the inner shell
	private_mounts bash -ec 'mount -t tmpfs -o size=256k small "$SMALL"
		mkdir -p "$SMALL/samples/current"
		cd "$SMALL/samples/current"
		eval "$1"' bash "$1"
}

@test "a full disk refuses new keys, counts those it has, and leaves a sound file" {
	# shellcheck disable=SC2016
	on_small_disk '
		out=$(samples add . "$FILE" <"$KEYS")
		echo "$out"
		# the old file and one of twice its size must fit side by side
		[[ $out == "counted "*" refused "*": {root}"*"No space left on device" ]]
		set -- $out
		[ $2 -gt 1050 ] && [ $4 -gt 1000 ] && [ $(($2 + ${4%:})) = 20050 ]
		reader check "$SMALL" | grep "\"total\": $2"
		[ -z "$(ls .new)" ]
		# the repeated keys were counted, not refused
		samples totals "$SMALL" | awk -v n="$2" "\$12 != n - 50 { exit 1 }"
	'
}

@test "a file with holes on a full disk is refused, not mapped" {
	# shellcheck disable=SC2016
	on_small_disk '
		echo 1 1 | samples add . "$FILE"
		# as libdb leaves a file: grown by its length only
		python3 - "$FILE" <<-"END"
		import os, struct, sys
		with open(sys.argv[1], "r+b") as f:
		    f.truncate(104)
		    f.truncate(104 + 20 * 65536)
		    f.seek(72)
		    f.write(struct.pack("<II", 65536, 1))
		END
		head -c 300000 /dev/zero >fill || true
		rc=0
		samples add . "$FILE" <"$KEYS" 2>"$KEYS.err" || rc=$?
		cat "$KEYS.err"
		[ $rc = 1 ]
		grep -q "no room.*No space left" "$KEYS.err"
	'
}

@test "a full disk refuses a new file and leaves nothing of it" {
	# shellcheck disable=SC2016
	on_small_disk '
		head -c 300000 /dev/zero >fill || true
		rc=0
		samples add . "$FILE" <"$KEYS" 2>"$KEYS.err" || rc=$?
		cat "$KEYS.err"
		[ $rc = 1 ]
		grep -q "No space left" "$KEYS.err"
		[ ! -e "{root}" ] && [ -z "$(ls .new 2>/dev/null)" ]
	'
}
