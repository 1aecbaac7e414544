# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# What the tests of "opcollect daemon" in the guest share, behind lib.sh.

# Starts one that takes samples by perf; words are its options.
start_daemon()
{
	cat >conf <<-'END'
		socket = "/tmp/opcollect.sock"
	END
	mkdir -p sessions
	opcollect daemon --config conf --session-dir sessions --event=TIMER \
		--frequency=500 --min-free=1M --symbols=0 --log=stderr "$@" 2>log &
	daemon=$!
	echo $daemon >>pids
	eventually 20 opcollect status --config conf
}

# A fact of its status.
fact()
{
	opcollect status --json --config conf |
		sed -n "s/^ *\"$1\": \"*\([^\",]*\).*/\1/p"
}

# is NAME -gt NUMBER, and the like
is()
{
	test "$(fact "$1")" "$2" "$3"
}

# Samples of CPU 1 by now, with --separate=cpu.
of_cpu1()
{
	opcollect dump --config conf >/dev/null
	opfs cat --session-dir sessions current/cpu:1/report.tsv 2>/dev/null |
		awk -F'\t' '!/^#/ { n += $5 } END { print n + 0 }'
}

# It has more of them than so many.
cpu1_has()
{
	[ "$(of_cpu1)" -gt "$1" ]
}

end_daemon()
{
	opcollect shutdown --config conf || fail "shutdown: $(cat log)"
	wait $daemon || fail "the daemon: $(cat log)"
}

# A figure, of all sessions.
sum_of()
{
	local file n=0

	for file in sessions/samples/*/stats/"$1"; do
		[ ! -e "$file" ] || n=$((n + $(cat "$file")))
	done
	echo $n
}
