# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 30
# doc/driver.md "Who may do what", tried out.
. /guest/lib.sh
nobody=65534

# may UID CAPABILITIES SCRIPT; $OP is known to it.
may()
{
	as "$1" "$2" sh -c "OP=$OP; $3" >answer 2>&1 ||
		fail "$1 with $2 may not: $3: $(cat answer)"
}

# may_not UID CAPABILITIES SCRIPT REASON
may_not()
{
	if as "$1" "$2" sh -c "OP=$OP; $3" >answer 2>&1; then
		fail "$1 with $2 may: $3"
	fi
	grep -qi "$4" answer || fail "$1 with $2: $3: $(cat answer), not: $4"
}

# CAP_SYS_ADMIN mounts; CAP_PERFMON is not enough for any file system.
load
umount $OP
may_not 0 perfmon "mount -t oprofilefs oprofilefs $OP" 'permi'
may_not 0 dac_override "mount -t oprofilefs oprofilefs $OP" 'permi'
may 0 sys_admin "mount -t oprofilefs oprofilefs $OP"

# Files want CAP_PERFMON or CAP_SYS_ADMIN, and their permissions: root's, by default.
for file in enable timer_hz source stats/received 0/event buffer; do
	may_not 0 none "cat \$OP/$file" 'not permitted'
	may_not 0 dac_override "cat \$OP/$file" 'not permitted'
	may_not $nobody none "cat \$OP/$file" 'permi.*\|denied'
done
for cap in perfmon sys_admin; do
	may 0 $cap 'cat $OP/enable && echo 500 >$OP/timer_hz && echo 1 >$OP/dump'
	may $nobody $cap 'cat $OP/timer_hz $OP/stats/received $OP/0/event'
	may_not $nobody $cap 'echo 600 >$OP/timer_hz' 'denied'
	may_not $nobody $cap 'echo 1 >$OP/enable' 'denied'
	may_not $nobody $cap 'cat $OP/buffer' 'denied'
done
may_not 0 none 'echo 1 >$OP/dump' 'not permitted'
[ "$(get timer_hz)" = 500 ] || fail "timer_hz is $(get timer_hz)"

# Names can be seen by all, as /dev can.
may $nobody none 'ls $OP/stats >/dev/null'

# CAP_PERFMON is all that sampling takes.
READ_BY="as 0 perfmon" start_reading
may 0 perfmon 'echo 1 >$OP/enable'
until_taken 20 nested 300
may 0 perfmon 'echo 0 >$OP/enable'
wait $reader || fail "the stream: $(cat out)"
expect samples -ge 20

# Who was handed an open file may read and stop, not start.
exec 3>$OP/enable
start_reading
may_not 0 none 'echo 1 >&3' 'not permitted'
put enable 1
may $nobody none 'echo 0 >&3'
[ "$(get enable)" = 0 ] || fail "not stopped"
exec 3>&-
wait $reader || fail "the stream: $(cat out)"

# The owner may give files to a group or to all: these still need CAP_PERFMON.
chmod 666 $OP/timer_hz
may $nobody perfmon 'echo 700 >$OP/timer_hz'
may_not $nobody none 'cat $OP/timer_hz' 'not permitted'
unload
