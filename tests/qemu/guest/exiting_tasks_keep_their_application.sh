# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 60
# A process that exits with much memory is busy in the kernel for long: samples of that
# are its application's, as those before are.  And what has none is counted by `no_app`.
. /guest/lib.sh
load
put timer_hz 4000
start -v
: >children
more()
{
	leave 24 4 10 >>children
}
until_taken 1500 more
stop
# "sample PLACE PC tgid T tid T cpu C app PATH"
awk 'FILENAME == "children" { child[$1] = 1; next }
	$1 != "sample" || !($7 in child) { next }
	$11 != "-" { known[$7] = 1 }
	$2 == "kernel" { ending[$7]++; bare[$7] += $11 == "-" }
	END {
		for (tid in known) {
			n += ending[tid]
			without += bare[tid]
		}
		printf "%d samples of the kernel in tasks with an application, %d " \
			"told without it\n", n, without
		exit n < 100 ? 2 : without != 0
	}' children out || fail "tasks that exit lose their application"
expect_no_loss
[ "$(get stats/no_app)" = "$(of no_app)" ] ||
	fail "no_app is $(get stats/no_app), and $(of no_app) were told without"
unload
