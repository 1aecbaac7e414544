#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# archive.tar without a mount, and archives of OProfile's oparchive.

bats_require_minimum_version 1.5.0
load ../lib/opdemo

setup()
{
	need_programs
	cd "$BATS_TEST_TMPDIR" || return
}

# every DIR: what its session shows, one file after another, with what is said
every()
{
	local f

	for f in summary report report.tsv details callgraph status asm report.xml \
		report.json with:source/asm with:debug-info/report image:demo/report; do
		echo "== $f"
		"$OPFS_BIN/opfs" cat --session-dir "$1" "current/$f" 2>&1
	done
	return 0
}

mksession()
{
	python3 "$OPFS_TOP/tests/lib/mksession.py" "$@"
}

cat_archive()
{
	"$OPFS_BIN/opfs" cat --session-dir "$1" "$2/archive.tar"
}

@test "the reference session, unpacked where /opt/opdemo is not" {
	need_mount_namespace
	opdemo bash -c "$(declare -f every)"'
		"$OPFS_BIN/opfs" cat --session-dir s1 current/archive.tar; every s1 >&7' \
		>a.tar 7>before
	mkdir u
	tar -C u -xf a.tar
	(cd u && sha256sum --strict --quiet -c MANIFEST)
	[ ! -e /opt/opdemo ] || skip "/opt/opdemo is there"
	every u >after
	grep -q crunch after
	diff -u before after
	[ "$(stat -c %Y u/archive/opt/opdemo/bin/demo)" = \
		"$(tar -tvf "$OPFS_TOP/tests/data/opdemo.tar.xz" \
			--full-time opt/opdemo/bin/demo |
			awk '{ print $4 " " $5 }' | TZ=UTC xargs -I{} date -d {} +%s)" ]
}

# What oparchive made, see transcript 86: binaries below DIR, samples where they always
# are.
oparchive()
{
	# shellcheck disable=SC2016
	opdemo sh -c '
		mkdir -p "$1/var/lib/oprofile" &&
			cp -rp s1/samples s1/abi "$1/var/lib/oprofile" &&
		mkdir -p "$1/opt/opdemo" && cp -rp bin "$1/opt/opdemo"
	' sh "$1"
}

@test "85, 86, 87, 88: an archive of oparchive, with --session-dir" {
	need_mount_namespace
	mkdir arch
	oparchive "$PWD/arch"
	[ ! -e /opt/opdemo ] || skip "/opt/opdemo is there"
	local at='current/event:CPU_CLK_UNHALTED/image:/opt/opdemo/bin/demo'
	"$OPFS_BIN/opfs" cat --session-dir arch "$at/summary" >summary
	diff -u <(opdemo_transcript 87-report-archive.txt) summary
	"$OPFS_BIN/opfs" cat --session-dir arch "$at/with:exclude-dependent/report" \
		>report ||
		"$OPFS_BIN/opfs" cat --session-dir arch \
			"$at/lib-image:/opt/opdemo/bin/demo/report" >report
	diff -u <(opdemo_transcript 88-report-archive-l.txt) report
	run "$OPFS_BIN/opfs" ls --session-dir arch
	[[ $output == *current* && $output == *base* ]]
}

@test "an archive of oparchive gives the same archive.tar reports again" {
	need_mount_namespace
	mkdir arch u
	oparchive "$PWD/arch"
	[ ! -e /opt/opdemo ] || skip "/opt/opdemo is there"
	cat_archive arch current | tar -C u -x
	[ -e u/archive/opt/opdemo/bin/demo ]
	every arch >before
	every u >after
	diff -u before after
}

@test "what is in the archive is taken, not what is on this machine" {
	cp /bin/true p
	mksession s <<-END
		[{"app": "$PWD/p", "samples": {"0x2000": 4}, "mtime": $(stat -c %Y p)}]
	END
	cat_archive s current | (mkdir u && tar -C u -x)
	cp /bin/false p
	touch -d @7 p
	"$OPFS_BIN/opfs" cat --session-dir s current/status |
		grep -q 'is not what was sampled'
	"$OPFS_BIN/opfs" cat --session-dir u current/status >status
	run ! grep -q 'is not what was sampled' status
	# another file in its place there is noticed as well
	cp -p p "u/archive$PWD/p"
	"$OPFS_BIN/opfs" cat --session-dir u current/status |
		grep -q "^unresolved: $PWD/p: .*: is not what was sampled"
}

@test "a session that goes on is archived as it was at one moment, and closed" {
	cp /bin/true p
	mksession s <<-END
		{"files": [{"app": "$PWD/p", "samples": {"0x2000": 4, "0x2010": 70000}},
		           {"app": "$PWD/p", "callee": "$PWD/p",
		            "samples": {"0x200000002010": 3}}],
		 "stats": {"total_samples": 70010, "lost_no_mapping": 6},
		 "live": [3, 1700000000000000000, "live"], "throttled": ["EV"]}
	END
	cat_archive s current >a.tar
	mkdir u
	tar -C u -xf a.tar
	(cd u && sha256sum --strict --quiet -c MANIFEST)
	[ "$(cat u/samples/current/stats/live)" = "3 1700000000000000000 closed" ]
	"$OPFS_BIN/opfs" cat --session-dir s current/status | grep -v ^state >before
	"$OPFS_BIN/opfs" cat --session-dir u current/status | grep -v ^state >after
	diff -u before after
	grep -q 'lost_no_mapping: 6' after
	for f in details callgraph; do
		diff -u <("$OPFS_BIN/opfs" cat --session-dir s current/$f) \
			<("$OPFS_BIN/opfs" cat --session-dir u current/$f)
	done
	# OProfile's readers want a file as long as its size says
	f=$(find u/samples -name 'CPU_CLK*' | head -n 1)
	[ "$(stat -c %s "$f")" = 2664 ]
}

@test "names that are hostile stay inside, or stay out and are told" {
	local deep
	deep=$(printf 'd%.0s' $(seq 200))
	mkdir -p "$PWD/$deep/$deep" "$PWD/uml-ä" "$PWD/nl"$'\n'x "$PWD/bad"$'\xff'
	for d in "$deep/$deep" uml-ä nl$'\n'x bad$'\xff'; do
		cp /bin/true "$d/p"
	done
	python3 - "$PWD" >s.json <<-'END'
	import json, os, sys
	top = sys.argv[1]
	paths = [os.path.join(d, "p") for d, _, f in os.walk(top) if "p" in f]
	files = [dict(app=p, samples={"0x2000": 4}, mtime=int(os.stat(p).st_mtime),
	              escape=True)
	         for p in paths]
	json.dump(files, sys.stdout)
	END
	PYTHONUTF8=1 mksession s s.json
	printf '/bin/true\t/../../../bin/true\t-\t0\t0\t-\t0\t-\n' \
		>>s/samples/current/images
	mksession s <<-'END'
		[{"app": "/bin/true", "samples": {"0x2000": 4}, "escape": true}]
	END
	printf '/bin/true\t/../../../bin/true\t-\t0\t0\t-\t0\t-\n' \
		>>s/samples/current/images
	cat_archive s current >a.tar
	mkdir u
	tar -C u -xf a.tar 2>err
	[ ! -s err ] || grep -vq "Removing\|contains" err
	(cd u && sha256sum --strict --quiet -c MANIFEST)
	[ "$(find u/archive -name p | tr -cd '\n' | wc -c)" -ge 4 ]
	run ! grep -q '\.\.' u/MANIFEST
	grep -q '/../../../bin/true.*no archive can hold' u/LEFT_OUT
	mkdir b
	bsdtar -C b -xf a.tar
	diff -r u b
}

@test "several sessions in one archive" {
	mksession s <<-'END'
		[{"session": "one", "app": "/bin/true", "samples": {"0x2000": 4}},
		 {"session": "two", "app": "/bin/false", "samples": {"0x2000": 4}}]
	END
	cat_archive s session:one,two >a.tar
	mkdir u
	tar -C u -xf a.tar
	[ "$(ls u/samples)" = "$(printf 'one\ntwo')" ]
	diff -u <("$OPFS_BIN/opfs" cat --session-dir s session:one,two/report) \
		<("$OPFS_BIN/opfs" cat --session-dir u session:one,two/report)
}

# members TAR: its sample files and binaries, without their directories
members()
{
	tar -tf "$1" | grep -E '^(archive|samples|symbols)/.*[^/]$' |
		grep -vE '/(images|tasks|stats/.*)$' | sort
}

@test "an archive of a selection has what the path selects, and says that it is a part" {
	cp /bin/true p
	cp /bin/false q
	for state in live closed; do
		mksession s <<-END
			{"files": [{"app": "$PWD/p", "samples": {"0x2000": 4}},
			           {"app": "$PWD/p", "image": "/bin/cat",
			            "samples": {"0x2000": 7}},
			           {"app": "$PWD/p", "callee": "$PWD/p",
			            "samples": {"0x200000002010": 3}},
			           {"app": "$PWD/q", "samples": {"0x2000": 5}},
			           {"app": "$PWD/q", "callee": "/bin/cat",
			            "samples": {"0x200000002010": 3}}],
			 "stats": {"total_samples": 16, "stored_samples": 16},
			 "live": [3, 1700000000000000000, "$state"]}
		END
		echo mine >s/samples/current/stats/notes
		cat_archive s current/image:p >p.tar
		members p.tar | sed "s,/CPU.*,,;s,$PWD,,g" >got
		sort >want <<-'END'
			archive/p
			archive/bin/cat
			samples/current/{root}/p/{dep}/{root}/p
			samples/current/{root}/p/{dep}/{root}/p/{cg}/{root}/p
			samples/current/{root}/p/{dep}/{root}/bin/cat
		END
		sed -i 's,archive//p,archive/p,;s,archive/usr/,archive/,' got
		diff -u want <(sort got)
		rm -rf u
		mkdir u
		tar -C u -xf p.tar
		(cd u && sha256sum --strict --quiet -c MANIFEST)
		for f in report details callgraph; do
			for at in s u; do
				"$OPFS_BIN/opfs" cat --session-dir $at \
					current/image:p/$f >$at.$f
			done
			diff -u s.$f u.$f
		done
		"$OPFS_BIN/opfs" cat --session-dir u current/status >status
		grep -x "note: mine" status
		grep "note: .*: 2 sample files of the session are not in it" status
		# and without what it called, as oparchive -x
		cat_archive s current/image:p/with:exclude-dependent >x.tar
		members x.tar >got
		[ "$(grep -c '^samples' got)" = 2 ]
		run ! grep bin/cat got
	done
	# what selects everything leaves nothing out
	cat_archive s current/event:CPU_CLK_UNHALTED >a.tar
	[ "$(members a.tar | grep -c ^samples)" = 5 ]
	run -0 tar -xOf a.tar samples/current/stats/notes
	[ "$output" = mine ]
}

@test "what lies beside the sample files is kept, damaged files too" {
	mksession s <<-'END'
		[{"session": "x", "app": "/bin/true", "samples": {"0x2000": 4}}]
	END
	d=$(dirname "$(find s/samples -name 'CPU_CLK*')")
	echo garbage >"$d/BROKEN.1.0.all.all.all"
	echo extra >s/samples/x/notes-of-mine
	ln -s /etc/passwd s/samples/x/link
	mkdir -p s/samples/x/.new && echo half >s/samples/x/.new/1
	mkdir -p s/samples/x/stats && echo room >s/samples/x/stats/.room0
	cat_archive s x | (mkdir u && tar -C u -x)
	cmp "$d/BROKEN.1.0.all.all.all" "u/${d#s/}/BROKEN.1.0.all.all.all"
	[ "$(cat u/samples/x/notes-of-mine)" = extra ]
	[ ! -e u/samples/x/link ] && [ ! -e u/samples/x/.new ]
	[ ! -e u/samples/x/stats/.room0 ]
	grep -q 'samples/x/link' u/LEFT_OUT
	diff -u <("$OPFS_BIN/opfs" cat --session-dir s x/status |
		sed "s/); .*opfs fetch/); or opfs fetch/") \
		<("$OPFS_BIN/opfs" cat --session-dir u x/status)
}

@test "debug information in a file that dwz made for several" {
	need_command dwz
	mkdir bin src
	cp "$OPFS_TOP/tests/cli/progs/weights.c" src/one.c
	cp src/one.c src/two.c
	for p in one two; do
		${CC:-gcc} -g -O1 -pthread -I"$OPFS_TOP/tests/cli/progs" \
			-Wl,--build-id -o bin/$p "$PWD/src/$p.c"
	done
	dwz -m bin/shared.dwz -r bin/one bin/two
	readelf -SW bin/one | grep -q gnu_debugaltlink
	python3 "$OPFS_TOP/tests/cli/progs/gmon_samples.py" "$PWD/bin/one" | mksession s
	cat_archive s current | (mkdir u && tar -C u -x)
	[ "$(find u/archive/usr/lib/debug/.build-id -name '*.debug' | wc -l)" = 1 ]
	"$OPFS_BIN/opfs" cat --session-dir s current/with:debug-info/details >before
	grep -q one.c: before
	mv bin src u/
	"$OPFS_BIN/opfs" cat --session-dir u current/with:debug-info/details >after
	diff -u before after
}
