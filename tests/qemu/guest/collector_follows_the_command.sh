# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 150 6.1 debug
# Whoever descends from the command is profiled, however short it lives and whoever its
# parent is by now; nobody else is; and a saved stream files the same samples again.
. /guest/lib.sh

# Without keeping names, which takes a minute in an emulated machine.
record()
{
	opcollect record --symbols=0 --source=kernel "$@"
}

# samples DIR VALUE [TAG]
samples()
{
	opfs cat --session-dir "$1" "current/${3-image}:$2/report.tsv" 2>/dev/null |
		awk -F '\t' 'NR > 1 { n += $5 } END { print n + 0 }'
}

balanced()
{
	(
		cd "$1/samples/current/stats" || exit 1
		sum=$(cat stored_samples)
		for f in lost_* ignored_*; do
			[ ! -f "$f" ] || case $f in
			lost_bt_* | lost_stackfile) ;;
			*) sum=$((sum + $(cat "$f"))) ;;
			esac
		done
		[ "$sum" = "$(cat total_samples)" ]
	) || fail "$1: taken is not stored and lost"
}

insmod /modules/opfs_sampler.ko || fail "insmod"
rmdir $OP 2>/dev/null
background nested 100000
cat >orphans <<-'END'
	storm fork 60 /bin/twin_1 /bin/twin_2
	(nested_orphan 1000 &)
	sleep 2
	while pidof nested_orphan >/dev/null; do
		sleep 0.2
	done
END
cp /bin/nested /bin/nested_orphan
record -F 1000 --save-stream=stream -d data -- sh orphans || fail "record"
[ ! -e $OP ] || fail "$OP is still there"
balanced data
for image in twin_1 twin_2 nested_orphan; do
	[ "$(samples data $image)" -ge 1 ] ||
		fail "$image: $(samples data $image) samples"
done
[ "$(samples data nested)" = 0 ] || fail "somebody else's samples"
opcollect replay -d again stream || fail "replay"
balanced again
for image in twin_1 twin_2 nested_orphan; do
	[ "$(samples data $image)" = "$(samples again $image)" ] ||
		fail "$image: $(samples data $image), again $(samples again $image)"
done
[ "$(samples again nested)" -ge 10 ] || fail "nested: $(samples again nested)"

# A process that runs already, and settings that were made before.
mkdir $OP
mount -t oprofilefs oprofilefs $OP || fail "mount"
put timer_hz 123
put backtrace_depth 7
nested 100000 &
pid=$!
echo $pid >>pids
# not record(): $! is the number of opcollect itself
opcollect record --symbols=0 --source=kernel -g -F 1000 -d one -p $pid &
recorder=$!
echo $recorder >>pids
eventually 20 grep -q 1 $OP/enable
until_taken 200 sleep 2
kill -TERM $recorder
wait $recorder || fail "record -p: $?"
balanced one
[ "$(samples one nested)" -ge 20 ] || fail "-p: $(samples one nested) samples"
[ "$(opfs cat --session-dir one current/summary | grep -c ' nested$')" -ge 1 ]
[ "$(opfs cat --session-dir one current/summary | grep -c twin)" = 0 ] ||
	fail "-p: others"
[ "$(cat one/samples/current/stats/total_arcs)" -ge 20 ] || fail "no arcs"
[ "$(get timer_hz)" = 123 ] || fail "timer_hz is $(get timer_hz)"
[ "$(get backtrace_depth)" = 7 ] || fail "backtrace_depth is $(get backtrace_depth)"
[ "$(get enable)" = 0 ] || fail "still enabled"

# The kernel's part is found, wherever it was loaded and whoever caused it.
record -a -F 1000 -d all -- \
	dd if=/dev/zero of=/dev/null bs=64k count=5000 || fail "record -a"
balanced all
n=$(samples all kallsyms lib-image)
[ "$n" -ge 5 ] || fail "kernel: $n samples"
opfs cat --session-dir all current/lib-image:/proc/kallsyms/report >report
grep -Eq ' (clear_user|read_iter_zero|__clear_user|clear_user_.*|rep_stos.*)$' report ||
	head -n 20 report

# What is in use stays so, and what cannot be counted is said.
start_reading
! record -d two -- true 2>err || fail "took a buffer in use"
grep -q 'another program' err || fail "$(cat err)"
kill $reader
wait $reader || :
! record -e page-faults:1 -d two -- true 2>err || fail "counted page-faults"
grep -q 'source=perf' err || fail "$(cat err)"
! record -e instructions:100000 -d two -- true 2>err || fail "counted instructions"
cat err
while read -r pid; do
	kill "$pid" 2>/dev/null || :
done <pids
unload
