#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The commands of doc/from-perf.md and doc/from-oprofile.md do what they say.

bats_require_minimum_version 1.5.0
load ../lib/need
load ../lib/record
load ../lib/daemon

setup_file() {
	build_programs
}

setup() {
	cd "$BATS_TEST_TMPDIR"
	daemon_setup
	b=$BATS_FILE_TMPDIR
}

teardown() {
	ctl shutdown >/dev/null 2>&1 || true
	daemon_teardown
}

# What every command finds, in base/: three sessions of chain, which calls inner(), and
# of the kernel's work, and one that lasted from two days ago until an hour from now.
make_base() {
	local past=base/oprofile_data/samples/2026-11-21T09-00-00Z name

	mkdir base
	for name in OLD NEW current; do
		record -g --separate=all -d base/oprofile_data --session="$name" \
			-- sh -c "'$BATS_FILE_TMPDIR/chain'; '$BATS_FILE_TMPDIR/zeros' 99"
	done
	cp -a base/oprofile_data/samples/OLD "$past"
	echo "$(($(date +%s) - 200000)).000000000" >"$past/stats/started"
	awk -v now="$(date +%s)" '{ print $1, (now + 3600) "000000000", $3 }' \
		base/oprofile_data/samples/OLD/stats/live >"$past/stats/live"
	cp -a base/oprofile_data base/DIR
	cat >words <<-END
		CMD $BATS_FILE_TMPDIR/zeros 20
		sleep 10 sleep 0.2
		PID $running
		PROG_PATH $BATS_FILE_TMPDIR/chain
		PROG chain
		FUNCTION inner
		SOURCE $(column file current/with:debug-info/symbol:inner | cut -c 2-)
		TGID $(column tgid current/split:tgid/symbol:inner)
		cpu:0 cpu:$("$OPFS_BIN/opfs" ls --session-dir base/oprofile_data \
			current/cpu: | head -n 1)
	END
}

# column NAME DIRECTORY: of the first row
column() {
	"$OPFS_BIN/opfs" cat --session-dir base/oprofile_data "$2/report.tsv" |
		awk -F'\t' -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++)
			if ($i == name) at = i } NR == 2 { print $at }'
}

# commands PAGE: what stands in the right columns of its tables, with words filled in; a
# machine without counters counts time.
commands() {
	local from to words=() default

	while read -r from to; do
		[ "$from" != sleep ] || { from="sleep 10" to="sleep 0.2"; }
		words+=(-e "s|\b$from\b|$to|g")
	done <words
	default=$("$OPFS_BIN/opcollect" events -d)
	[[ $default != TIMER* ]] || words+=(-e 's/\bcycles:/TIMER:/g')
	sed -n 's/^| .* | \(.*\) |$/\1/p' "$OPFS_TOP/doc/$1" |
		grep -oE '`op(fs|collect) [^`]*`' |
		sed -e 's/`//g' -e 's/\\|/|/g' "${words[@]}" |
		sed -e "/^opcollect/s/\bTID\b/$running/g" \
			-e "/^opfs/s/\bTID\b/$(awk '$1 == "TGID" { print $2 }' words)/g"
}

opfs() {
	"$OPFS_BIN/opfs" "$@"
}

opcollect() {
	case $1 in
	record) record "${@:2}" ;;
	daemon) "$OPFS_BIN/opcollect" daemon --config "$conf" --session-dir "$dir" \
		--socket "$sock" --log "$log" --symbols=0 "${@:2}" 3>&- && cat "$log" ;;
	shutdown) ctl shutdown && cat "$log" ;;
	config) "$OPFS_BIN/opcollect" config --config "$conf" ;;
	start | stop | status | dump | reset | save | set | deinit)
		ctl "$@" ;;
	*) "$OPFS_BIN/opcollect" "$@" ;;
	esac
}

# Where else a command is tested, which asks the network.
elsewhere() {
	[ "$1" = "opfs fetch" ]
}

# page FILE FEWEST: runs its commands, where they find base/ as it was; opfs leaves it so.
page() {
	local command last=

	can_record_cpus
	busy_start sh -c 'while sleep 0.1; do :; done'
	running=${busy_pids[-1]}
	make_base
	commands "$1" >commands
	[ "$(wc -l <commands)" -ge "$2" ]
	while read -r command <&4; do
		echo "$command"
		! elsewhere "$command" || continue
		[[ $last$command = opfs*opfs* ]] || { rm -rf run && cp -a base run; }
		last=$command
		cd run
		(eval "$command") >../out 2>&1 4<&- </dev/null ||
			{ cat ../out; return 1; }
		[ -s ../out ] || [ -s FILE ] || [ -s "${command##* > }" ]
		cd ..
	done 4<commands
}

@test "every command of from-perf.md works, and says something" {
	page from-perf.md 100
}

@test "every command of from-oprofile.md works, and says something" {
	page from-oprofile.md 100
}

# words FILE PROGRAM: the section of it
section() {
	awk -v name="$2" '/^## / { on = index($0, name) } on' "$OPFS_TOP/doc/$1"
}

@test "from-oprofile.md has every option of OProfile's programs" {
	while read -r program options; do
		section from-oprofile.md "$program" >section
		[ -s section ]
		for option in $options; do
			echo "$program --$option"
			grep -qE -- "--$option\b" section
		done
	done <<-'END'
		operf append callgraph events lazy-conversion pid separate-cpu
		operf separate-thread session-dir system-wide verbose vmlinux
		opreport accumulated callgraph debug-info demangle details
		opreport exclude-dependent exclude-symbols global-percent image-path
		opreport include-symbols long-filenames merge no-header output-file
		opreport reverse-sort root session-dir show-address sort symbols
		opreport threshold verbose xml
		opannotate assembly base-dirs demangle exclude-dependent exclude-file
		opannotate exclude-symbols image-path include-file include-symbols
		opannotate merge objdump-params output-dir root search-dirs session-dir
		opannotate source threshold verbose
		opgprof output-filename
		oparchive exclude-dependent list-files output-directory
		opcontrol buffer-size buffer-watershed callgraph cpu-buffer-size deinit
		opcontrol dump event image init kernel-range list-events no-vmlinux
		opcontrol note-table-size reset save separate session-dir setup
		opcontrol shutdown start start-daemon status stop verbose vmlinux xen
		ophelp callgraph check-events cpu-type extra-mask get-cpu-frequency
		ophelp get-cpu-type get-default-event unit-mask xml
		ocount brief-format cpu-list events output-file process-list
		ocount separate-cpu separate-thread system-wide thread-list
		ocount time-interval verbose
	END
}

@test "no command of the pages is said to be there and is not" {
	grep -ohE '`op(fs|collect) [a-z]+' "$OPFS_TOP"/doc/from-*.md |
		tr -d '`' | sort -u >said
	[ "$(wc -l <said)" -ge 15 ]
	while read -r program command; do
		echo "$program $command"
		"$OPFS_BIN/$program" help "$command" >out
		[ -s out ]
	done <said
}
