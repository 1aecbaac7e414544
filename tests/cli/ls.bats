#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# opfs ls, cat and why: options, exit statuses, output.

bats_require_minimum_version 1.5.0
load ../lib/need

setup_file() {
	export D="$BATS_FILE_TMPDIR/data"
	python3 "$OPFS_TOP/tests/lib/mksession.py" "$D" <<-'END'
	[{"app": "/bin/demo", "samples": {"0x1000": 10}},
	 {"app": "/bin/demo", "image": "/lib/libx.so", "samples": {"0x1000": 5}},
	 {"app": "/bin/other", "samples": {"0x1000": 1}},
	 {"session": "saved", "app": "/bin/demo", "samples": {"0x1000": 3}}]
	END
}

opfs() {
	"$OPFS_BIN/opfs" "$@"
}

@test "ls without a path lists sessions" {
	run -0 opfs ls --session-dir "$D"
	[ "$output" = $'README\nstatus\nevents\ncurrent\nsaved' ]
}

@test "ls lists files, directories and links of a session" {
	run -0 opfs ls --session-dir "$D" current
	for name in summary report report.tsv status README image lib-image symbol; do
		[[ $'\n'$output$'\n' == *$'\n'$name$'\n'* ]] || {
			echo "no $name"
			return 1
		}
	done
}

@test "ls -l shows samples as the size of a directory, bytes as that of a file" {
	run -0 opfs ls --session-dir "$D" -l current/image
	[[ ${lines[0]} =~ ^d\ +15\ .*demo$ ]]
	[[ ${lines[1]} =~ ^d\ +1\ .*other$ ]]
	bytes=$(opfs cat --session-dir "$D" current/report | wc -c)
	[[ $(opfs ls --session-dir "$D" -l current/report) =~ ^-\ +$bytes\  ]]
	[[ $(opfs ls --session-dir "$D" -l current) == *"lib-image -> lib-image:"* ]]
}

@test "ls of several paths heads each with its name" {
	run opfs ls --session-dir "$D" current/image saved
	[[ $output == "current/image:"$'\n'* ]]
	[[ $output == *$'\nsaved:\n'* ]]
}

@test "options may stand behind the path, and -- ends them" {
	run -0 opfs ls current/image --session-dir "$D" -l
	[[ $output == d* ]]
	run -0 opfs ls --session-dir "$D" -- current/image
	[ "${lines[0]}" = demo ]
	run -1 opfs ls --session-dir "$D" -- -l
}

@test "a leading slash in a path is the root of the tree" {
	[ "$(opfs cat --session-dir "$D" /current/report)" = \
		"$(opfs cat --session-dir "$D" current/report)" ]
}

@test "cat prints several files and goes on after one that does not exist" {
	run -1 opfs cat --session-dir "$D" current/report.tsv nosuch/report \
		saved/report.tsv
	[[ $output == *"opfs cat: nosuch/report: no session"* ]]
	[[ $output == *demo* ]]
}

@test "cat of a directory is refused, with a file to ask for" {
	run -1 opfs cat --session-dir "$D" current
	[[ $output == *"is a directory"*report* ]]
}

@test "cat tells when its output cannot be written" {
	need_dev_full
	run -1 bash -c "'$OPFS_BIN/opfs' cat --session-dir '$D' current/report >/dev/full"
	[[ $output == *"No space left"* ]]
	run -1 bash -c "'$OPFS_BIN/opfs' ls --session-dir '$D' >/dev/full"
	[[ $output == *"No space left"* ]]
}

@test "cat is quiet when nobody reads any more" {
	run bash -c "'$OPFS_BIN/opfs' cat --session-dir '$D' current/report | true"
	[ "$output" = "" ]
}

@test "cat --sample-file shows one file, wherever it is" {
	f="$D/samples/current/{root}/bin/demo/{dep}/{root}/lib/libx.so"
	f="$f/CPU_CLK_UNHALTED.100000.0.all.all.all"
	run -0 opfs cat --sample-file="$f" summary
	[[ $output == *"5"*demo* ]]
	run -2 opfs cat --sample-file="$f" nosuch
	run -1 opfs cat --sample-file=/etc/passwd report
	run -2 opfs cat --binary=/bin/sh current/report
}

@test "cat --sample-file refuses what a file alone cannot tell, and makes all else" {
	D=$BATS_TEST_TMPDIR/demo
	python3 "$OPFS_TOP/tests/lib/mksession.py" "$D" "$OPFS_TOP/tests/data/stacks.json"
	f=$(find "$D/samples/current/{root}" -name '*.all' | sort | head -n 1)
	for report in calltree callertree hot-paths flamegraph.svg stacks.folded \
		profile.pb.gz callgrind.out; do
		run -1 opfs cat --sample-file="$f" "$report"
		[[ $output = *" is made from whole stacks, and none of those "* ]]
	done
	for report in $(opfs ls --session-dir "$D" current | cat) \
		$(opfs ls --session-dir "$D" current/more | cat); do
		run opfs cat --sample-file="$f" "$report"
		echo "$report: $status"
		[ "$status" -le 2 ]
		[ "$status" = 0 ] || [ -n "$output" ]
	done
}

@test "why tells what a path stands for" {
	run -0 opfs why --session-dir "$D" current/image:demo/lib-image:libx.so/report
	[[ $output == *"image              demo"* ]]
	[[ $output == *"5 of 16 (31.25%)"* ]]
}

@test "why marks the component that fails and lists what there is" {
	run -1 opfs why --session-dir "$D" current/image:demmo/report
	[ "${lines[0]}" = "current/image:demmo/report" ]
	[ "${lines[1]}" = "        ^^^^^^^^^^^" ]
	[[ ${lines[2]} == *demo* ]]
}

@test "why says what must be recorded for a tag to mean something" {
	run opfs why --session-dir "$D" current/cpu:0
	[[ $output == *"--separate=cpu"* ]]
	run opfs why --session-dir "$D" current/tgid
	[[ $output == *"--separate=thread"* ]]
}

@test "a missing session directory is told with what to do about it" {
	for sub in "ls" "cat current/report" "why current"; do
		# shellcheck disable=SC2086
		run -1 "$OPFS_BIN/opfs" ${sub%% *} --session-dir "$D/nosuch" ${sub#* }
		[[ $output == *"opcollect record"* ]]
	done
}

@test "wrong usage is exit status 2" {
	run -2 opfs
	run -2 opfs nosuch
	run -2 opfs cat
	run -2 opfs why
	run -2 opfs ls --nosuch
	run -2 opfs ls --session-dir
	run -0 opfs --help
	[[ $output == *"opfs SESSION_DIR MOUNTPOINT"* ]]
	run -0 opfs --version
	for sub in ls cat why; do
		run -0 opfs $sub --help
		[[ $output == *session-dir* ]]
	done
}

@test "status of the root tells sessions, samples and losses" {
	run opfs cat --session-dir "$D" status
	[[ $output == *"current"*"16 samples in 3 files"* ]]
	[[ $output == *"saved"*"3 samples"* ]]
}

@test "README of the root names every file and tag" {
	run opfs cat --session-dir "$D" README
	for word in report.tsv lib-image-exclude: unit-mask session-exclude; do
		[[ $output == *${word%:}* ]] || { echo "no $word"; return 1; }
	done
}
