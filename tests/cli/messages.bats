#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What opfs says when a path, a file or a session is not what was meant.

bats_require_minimum_version 1.5.0
load ../lib/need
load ../lib/opfs

setup() {
	D="$BATS_TEST_TMPDIR/data"
	cd "$BATS_TEST_TMPDIR"
}

says() {
	[[ $output == *"$1"* ]] || { echo "not said: $1"; echo "$output"; return 1; }
}

says_not() {
	[[ $output != *"$1"* ]] || { echo "said: $1"; echo "$output"; return 1; }
}

@test "a misspelt file below an image says that the image is there" {
	mksession <<<'[{"app": "/bin/make"}, {"app": "/bin/other"}]'
	run -1 opfs why current/image:make/reprot
	says 'image:make exists, but has no file or tag "reprot": did you mean "report"?'
	says 'report.tsv'
	run opfs why current/image:/bin/make/reprot
	says 'image:/bin/make exists'
	run opfs why current/image:make/simbol:main
	says 'there is no tag "simbol"'
	run opfs why current/image:make/entirelydifferent
	says_not 'did you mean'
}

@test "a part of a name finds the names that hold it, before those that look alike" {
	mksession <<-'END'
	[{"app": "/bin/x86_64-linux-gnu-gcc-12"}, {"app": "/bin/cc1"}, {"app": "/bin/rm"},
	 {"app": "/bin/sed"}, {"app": "/bin/tar"}, {"app": "/bin/awk"},
	  {"app": "/bin/git"},
	 {"app": "/opt/gcc/bin/inner"}]
	END
	run opfs why current/image:gcc
	says 'there are: x86_64-linux-gnu-gcc-12, '
	says 'image:*gcc*'
	run -0 opfs why 'current/image:*gcc*'
	run opfs why current/image:nosuch
	says_not '*nosuch*'
	says 'no application "nosuch"'
}

@test "without a session directory both places are named that were looked at" {
	[ ! -e /var/lib/oprofile ] || skip "there is a /var/lib/oprofile"
	for sub in ls "cat current/report" "mount $BATS_TEST_TMPDIR"; do
		# shellcheck disable=SC2086 # words on purpose
		run -1 "$OPFS_BIN/opfs" $sub
		says "neither ./oprofile_data nor /var/lib/oprofile"
		says "--session-dir"
		says "opfs ${sub%% *}: "
	done
}

@test "a damaged file is named once in status and announced by cat" {
	mksession <<<'[{"app": "/bin/one"}, {"app": "/bin/two"}]'
	bad=$(find "$D" -path '*{root}/bin/two/*' -type f | head -1)
	truncate -s 10 "$bad"
	run opfs cat current/status
	says "damaged: current/"
	[ "$(grep -o 'bin/two/CPU' <<<"$output" | wc -l)" = 1 ]
	says_not "see current/status"
	run -0 opfs cat current/summary current/report
	says "opfs cat: note: 1 damaged file left out: see current/status"
	[ "$(grep -c 'note: ' <<<"$output")" = 1 ]
	opfs cat current/summary 2>/dev/null >text
	! grep -q damaged text
}

@test "cat announces losses of more than one percent" {
	echo '{"files": [{"app": "/bin/one", "samples": {"1": 100}}],
	       "stats": {"samples_taken": 200,
	         "lost_records_by_kernel": 100}}' | mksession
	ls "$D/samples/current/stats"
	run opfs cat current/summary
	says "opfs cat: note: 50 % of the samples were lost: see current/status"
	echo '{"files": [{"app": "/bin/one", "samples": {"1": 199}}],
	       "stats": {"samples_taken": 200, "lost_records_by_kernel": 1}}' | mksession
	run opfs cat current/summary
	says_not "note:"
}

@test "a wrong --binary is told why it has no symbols" {
	mksession <<<'[{"app": "/bin/one"}]'
	echo text >wrong
	f=$(find "$D" -path '*{root}/bin/one/*' -type f | head -1)
	run -0 "$OPFS_BIN/opfs" cat --sample-file="$f" --binary="$PWD/wrong" report
	says "opfs cat: $PWD/wrong: shown without symbols: "
}

@test "where only exported names are known, status says what to install" {
	gcc -O2 -s -rdynamic -Wl,--build-id -o exports \
		"$OPFS_TOP/tests/cli/symbols/sample.c"
	at=$(offset_of exports _start)
	mksession <<-END
		[{"app": "$PWD/exports", "samples": {"$at": 5, "$((at - 1))": 3}}]
	END
	run opfs cat current/status
	says "no-symbol: $PWD/exports: 3 "
	says "only exported names; install its debug symbols (build-id "
	id=$(build_id exports)
	says "(build-id $id); or opfs fetch $id; looked for as "
	says "/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"
}

@test "status names the package that has the debug symbols of a binary" {
	need_command dpkg
	mksession <<-END
		[{"app": "/usr/bin/sort", "samples": {"0x1": 3}}]
	END
	run opfs cat current/status
	says "no-symbol: /usr/bin/sort: 3 "
	says "; package $(dpkg -S /usr/bin/sort | cut -d: -f1)-dbgsym, or opfs fetch "
	# where binaries are elsewhere, packages of this machine are not theirs
	mkdir -p root/usr/bin
	cp /usr/bin/sort root/usr/bin
	run opfs cat "current/root:${PWD//\//%2F}%2Froot/status"
	says "no-symbol: /usr/bin/sort: 3 "
	says_not '; package '
}

@test "a session its owner closed names the chmod that opens it" {
	need_others
	d=$(mktemp -d /tmp/opfs-messages.XXXXXX)
	chmod 755 "$d"
	D="$d/data"
	mksession <<<'[{"app": "/bin/one"}]'
	chmod 755 "$D" "$D/samples"
	for closed in "$D/samples/current" "$D/samples" "$D"; do
		chmod 700 "$closed"
		run setpriv --reuid=65534 --regid=65534 --clear-groups -- \
			"$OPFS_BIN/opfs" cat --session-dir "$D" current/report
		echo "$closed: $output"
		chmod 755 "$closed"
		[ "$status" = 1 ] && says "its owner can: chmod o+rx" || break
	done
	rm -rf "$d"
	[ "$closed" = "$D" ]
	says "chmod o+rx"
}

@test "a message names the file it is about once" {
	mksession <<<'[{"app": "/gone/prog"}]'
	run opfs cat current/status
	says "unresolved: /gone/prog: 1 (100 %): No such file"
	run opfs cat --sample-file=/nope report
	says "opfs cat: /nope: not the name of a sample file"
}

@test "whoever starts a helper by hand is told that it is none" {
	for words in "opcollect --box=questions" "opfs --box=opfs-symbols" \
		"opfs --box=x"; do
		# shellcheck disable=SC2086 # a program and its option
		run -2 "$OPFS_BIN"/$words 3</dev/null
		says "${words/ /: } is for helpers that this program starts, not for you"
	done
}
