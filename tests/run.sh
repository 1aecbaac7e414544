#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# run.sh LOGDIR WORD...: runs tests, tells what failed or was skipped, and sums up.
#
#   suite:NAME       what follows belongs to this suite
#   jobs:N           and runs so many at a time
#   bin:DIR          with the programs in DIR
#   san:LIST         which were built with these sanitizers
#   unit:PROGRAM     a criterion program
#   bats:FILE        a bats file
#   fuzz:PROGRAM:SECONDS
#                    a libFuzzer program; seeds in tests/fuzz/corpus/NAME, if any.
#                    Always from the same random seed, so that what fails here fails
#                    there; FUZZ_SEED=0 searches anew
#   qemu:KERNEL:SUITE
#                    tests in a guest, see tests/qemu/run.sh
#   headers:KERNELS  the driver is built for them, see tests/headers.sh
#   packages:debian  the packages in a guest, see tests/deb/run.sh
#
# Each of the last six keeps its output in LOGDIR/SUITE-NAME.log.  A sanitizer's report
# is a failure wherever the process that made it was, since it goes to a file that is
# looked for.  Prints a line a suite, what was skipped, and at the end "N passed, N
# failed".
#
# With OPFS_SKIPS=strict a skip that no line of tests/skips allows is a failure.
set -u

cd "$(dirname "$0")/.." || exit 1
case $1 in
/*) logs=$1 ;;
*) logs=$PWD/$1 ;;
esac
shift
rm -rf "$logs"
mkdir -p "$logs" || exit 1
: >"$logs/skipped"

unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL
export OPFS_TOP=$PWD OPFS_SAN='' OPFS_BIN=''
export OPFS_CACHE_DIR='' # tests count helpers: what an earlier one was told is not known
# Seconds, for what hangs: beside much else, tests take a hundred times their time.  Not
# each test of bats has such a limit: bats 1.8 goes on counting, and waits for that, if a
# test ends just as its counting begins.
limit=1200
patience=7200 # for a guest with all its tests
unset BATS_TEST_TIMEOUT
suite='' jobs=1 items=() running=0 started=0
suite_passed=0 suite_failed=0 suite_skipped=0 suite_slowest=''
passed=0 failed=0 skipped=0
skips=$logs/skipped

# The kernel lowers its highest rate of samples, for good, when one interrupt took long,
# as where a virtual machine was kept waiting: down to 250 were seen.  Tests take more.
keep_rate()
{
	local rate=/proc/sys/kernel/perf_event_max_sample_rate
	local share=/proc/sys/kernel/perf_cpu_time_max_percent
	local had_rate had_share

	{ had_rate=$(<$rate) && had_share=$(<$share); } 2>/dev/null || return 0
	[ -w $share ] && [ "$had_share" -lt 100 ] || return 0
	# shellcheck disable=SC2064
	trap "echo $had_share >$share; echo $had_rate >$rate" EXIT
	echo 100000 >$rate
	echo 100 >$share # it measures no more
}
keep_rate

# Reads TAP; prints "PASSED FAILED SKIPPED".  $1: whether the plan counts every test.
count_tap()
{
	awk -v exact="$1" '
	/^ok/ && /# [Ss][Kk][Ii][Pp]/ { s++; next }
	/^ok/ { p++ }
	/^not ok/ { f++ }
	/^1[.][.][0-9]+/ { plan = substr($1, 4) + 0; planned = 1 }
	END {
		if (!planned)
			f++
		else if (p + f + s < plan)
			f += exact ? plan - p - f - s : 1
		print p + 0, f + 0, s + 0
	}' "$2" 2>/dev/null || echo 0 1 0
}

run_unit()
{
	timeout -k 10 $limit "$1" -j1 --tap="$2.tap" >"$2.log" 2>&1 \
		</dev/null
	local rc=$?
	count_tap 0 "$2.tap" >"$2.result"
	return $rc
}

run_bats()
{
	timeout -k 10 $((2 * limit)) bats --formatter tap "$1" >"$2.log" 2>&1 </dev/null
	local rc=$?
	cp "$2.log" "$2.tap"
	count_tap 1 "$2.tap" >"$2.result"
	return $rc
}

run_fuzz()
{
	local program=${1%:*} seconds=${1##*:} corpus rc
	local seeds=tests/fuzz/corpus/${program##*/}

	corpus=$(mktemp -d) || return 1
	[ ! -d "$seeds" ] || cp -r "$seeds/." "$corpus"
	timeout -k 10 $((seconds + limit)) "$program" \
		-seed="${FUZZ_SEED:-1}" \
		-max_total_time="$seconds" -rss_limit_mb=2048 -timeout=250 \
		-artifact_prefix="$2-" "$corpus" >"$2.log" 2>&1 </dev/null
	rc=$?
	rm -rf "$corpus"
	if [ $rc = 0 ]; then echo 1 0 0; else echo 0 1 0; fi >"$2.result"
	return $rc
}

# Runs a script that reports in TAP; $1: where its output goes.
run_tap()
{
	local path=$1

	shift
	timeout -k 10 $patience "$@" >"$path.log" 2>&1 </dev/null
	local rc=$?
	cp "$path.log" "$path.tap"
	count_tap 1 "$path.tap" >"$path.result"
	return $rc
}

# Runs one item; $1: KIND:WHAT, $2: where its output goes, without a suffix.
run_item()
{
	local what=${1#*:}
	local options="log_path=$2.san:print_stacktrace=1" started=$SECONDS

	export ASAN_OPTIONS="detect_leaks=1:$options" UBSAN_OPTIONS=$options
	# helpers may not create files when they have one to write
	[ -z "$OPFS_SAN" ] || export OPFS_TEST_REPORTS=$2.san.helpers
	case $1 in
	unit:*) run_unit "$what" "$2" ;;
	bats:*) run_bats "$what" "$2" ;;
	fuzz:*) unset ASAN_OPTIONS UBSAN_OPTIONS; run_fuzz "$what" "$2" ;;
	qemu:*) run_tap "$2" tests/qemu/run.sh "${what%%:*}" "${what#*:}" ;;
	headers:*) run_tap "$2" tests/headers.sh "$what" ;;
	packages:*) run_tap "$2" tests/deb/run.sh "$what" ;;
	esac
	echo "$? $((SECONDS - started))" >"$2.rc"
}

item_path()
{
	local name=${1#*:}

	name=${name%%:*}
	name=${name##*/}
	echo "$logs/$suite-${name%.bats}"
}

# A line "SUITE-FILE: TEST: REASON" for each test of an item that was skipped.
note_skipped()
{
	local name=${1##*/}

	[ -e "$1.tap" ] || return 0
	sed -n 's/^ok *[-0-9]* *\(.*[^ ]\) *# [Ss][Kk][Ii][Pp] *\(.*\)/\1: \2/p' \
		"$1.tap" |
		awk -v name="$name" '{ print name ": " $0 }' >>"$skips"
}

show_failure()
{
	local report

	echo "==== FAILED: $2 (all of it: $1.log)"
	if grep -q '^not ok' "$1.log"; then
		awk '/^not ok/ { on = 1 } /^ok/ { on = 0 } on' "$1.log" | head -n 200
	else
		tail -n 60 "$1.log"
	fi
	for report in "$1".san*; do
		[ -s "$report" ] || continue
		echo "---- $report"
		head -n 120 "$report"
		# once more, last: where a log is cut in front these are what is left
		grep -E 'ERROR:|WARNING:|SUMMARY:|runtime error:' "$report"
		grep -E -m 6 '^ +#[0-9]+ ' "$report"
	done
}

# Did a sanitizer write a report?  A process that is killed while it opens its log leaves
# an empty one, and one that is killed while it looks for leaks says that it cannot.
is_reported()
{
	local report killed='^==[0-9]+==Unable to get registers from thread [0-9]+\.$'

	for report in "$1".san*; do
		if [ -f "$report" ] && grep -qvE "$killed" "$report"; then
			return 0
		fi
	done
	return 1
}

# Adds up one finished item.
tell_item()
{
	local path p=0 f=0 s=0 rc=1 seconds=0

	path=$(item_path "$1")
	read -r p f s 2>/dev/null <"$path.result" || f=1
	read -r rc seconds 2>/dev/null <"$path.rc"
	suite_slowest+="$seconds ${path##*/"$suite"-}"$'\n'
	if [ "$f" = 0 ] && { [ "$rc" != 0 ] || is_reported "$path"; }; then
		f=1
	fi
	suite_passed=$((suite_passed + p))
	suite_failed=$((suite_failed + f))
	suite_skipped=$((suite_skipped + s))
	note_skipped "$path"
	[ "$f" = 0 ] || show_failure "$path" "$suite ${1#*:}"
}

end_suite()
{
	local item

	[ -n "$suite" ] || return
	wait
	running=0
	for item in "${items[@]}"; do
		tell_item "$item"
	done
	printf '%-12s %4d tests' "$suite:" \
		$((suite_passed + suite_failed + suite_skipped))
	[ $suite_failed = 0 ] || printf ', %d FAILED' $suite_failed
	printf ', %d s; slowest:' $((SECONDS - started))
	sort -rn <<<"$suite_slowest" | awk 'NR <= 5 { printf " %s %d s", $2, $1 }
		END { print "" }'
	passed=$((passed + suite_passed))
	failed=$((failed + suite_failed))
	skipped=$((skipped + suite_skipped))
}

begin_suite()
{
	end_suite
	suite=$1 jobs=1 items=() started=$SECONDS
	suite_passed=0 suite_failed=0 suite_skipped=0 suite_slowest=''
}

for word; do
	case $word in
	suite:*) begin_suite "${word#*:}" ;;
	jobs:*) jobs=${word#*:} ;;
	bin:*) OPFS_BIN=$(realpath -m "${word#*:}") ;;
	san:*) OPFS_SAN=${word#*:} ;;
	unit:* | bats:* | fuzz:* | qemu:* | headers:* | packages:*)
		if [ $running -ge "$jobs" ]; then
			wait -n
			running=$((running - 1))
		fi
		items+=("$word")
		run_item "$word" "$(item_path "$word")" &
		running=$((running + 1))
		;;
	*)
		echo "run.sh: $word: not understood" >&2
		exit 2
		;;
	esac
done
end_suite

# Skips that tests/skips does not allow: regular expressions, a line each, # for comments.
unforeseen()
{
	grep -vE '^[[:space:]]*(#|$)' tests/skips >"$skips.allowed"
	grep -vEf "$skips.allowed" "$skips" || true
}

if [ -s "$skips" ]; then
	echo "skipped:"
	sed 's/^/  /' "$skips"
	if [ "${OPFS_SKIPS-}" = strict ]; then
		unforeseen >"$skips.unforeseen"
		if [ -s "$skips.unforeseen" ]; then
			echo "FAILED: skipped, and not in tests/skips:"
			sed 's/^/  /' "$skips.unforeseen"
			failed=$((failed + $(wc -l <"$skips.unforeseen")))
			skipped=$((skipped - $(wc -l <"$skips.unforeseen")))
		fi
	fi
fi
if [ $((passed + failed + skipped)) = 0 ]; then
	echo "run.sh: there was no test to run" >&2
	failed=1
fi
printf '%d passed, %d failed' $passed $failed
[ $skipped = 0 ] || printf ', %d skipped' $skipped
echo
[ $failed = 0 ]
