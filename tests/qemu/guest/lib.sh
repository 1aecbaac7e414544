# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2034 # used by the tests
# What the tests in the guest share.  They run in an empty directory that goes afterwards;
# init unloads what is left loaded.
OP=/dev/oprofile
TRAPS=$(cat /guest/traps)

fail()
{
	echo "FAILED: $*"
	dmesg | grep '[]] opfs_sampler:' | grep -v opfs-tap | tail -n 3
	exit 1
}

skip()
{
	echo "$*"
	exit 77
}

# Loads the driver with the timer as its source, or with the words given.
load()
{
	insmod /modules/opfs_sampler.ko "$@" || fail "insmod"
	mount -t oprofilefs oprofilefs $OP || fail "mount"
}

unload()
{
	local i=0

	umount $OP || fail "umount"
	until rmmod opfs_sampler; do
		i=$((i + 1))
		[ $i -lt 20 ] || fail "rmmod"
		sleep 0.2
	done
}

put()
{
	echo "$2" >"$OP/$1" || fail "$1 cannot be set to $2"
}

get()
{
	cat "$OP/$1"
}

# use_fake COUNTER CPU: has a counter count what only that CPU has (opfs_fake_pmu.ko), a
# sample a millisecond.
use_fake()
{
	put "$1/type" "$(cat "/sys/bus/event_source/devices/opfs_fake$2/type")"
	put "$1/count" 1000000
	put "$1/enabled" 1
}

# refused FILE VALUE REASON
refused()
{
	if (echo "$2" >"$OP/$1") 2>err; then
		fail "$1 took $2"
	fi
	grep -q "$3" err || fail "$1: $2: $(cat err), not: $3"
}

background()
{
	"$@" &
	echo $! >>pids
}

# Waits until a command is true; gives up after $1 seconds, of a machine that does nothing
# else: five times that, for what the host has to do besides.
eventually()
{
	local i=0 limit=$(($1 * 5))

	shift
	until "$@"; do
		i=$((i + 1))
		[ $i -lt $((limit * 10)) ] || fail "$limit s later still not: $*"
		sleep 0.1
	done
}

# until_taken N COMMAND...: runs it, again and again, until N samples more were taken.
# How many it makes is up to the host, which may have the machine stand still for long.
until_taken()
{
	local want

	want=$(($(get stats/received) + $1))
	shift
	while :; do
		"$@" || fail "$*"
		[ "$(get stats/received)" -lt "$want" ] || break
	done
}

# Reads the buffer into ./out until the driver is stopped; words go to bufdump, which the
# words of $READ_BY run.
READ_BY=
start_reading()
{
	: >out
	# shellcheck disable=SC2086 # words on purpose
	$READ_BY bufdump $TRAPS "$@" >out 2>&1 &
	reader=$!
	echo $reader >>pids
	eventually 10 grep -q . out
	grep -q '^open' out || fail "$(cat out)"
}

start()
{
	start_reading "$@"
	put enable 1
}

# Stops sampling; ./out then holds all that was told, and has been checked.
stop()
{
	put enable 0
	wait $reader || fail "the stream: $(grep -v '^[a-z_0-9]* [0-9]*$' out |
		head -n 30)"
	expect byes -ge 1
	expect mistakes -eq 0
	expect trapped -eq 0
	[ "$(of told_taken)" -eq $(($(of samples) + $(of lost))) ] ||
		fail "taken is not told and lost"
	tell
}

# A number of ./out.
of()
{
	awk -v name="$1" '$1 == name { n = $2; found = 1 } END { print found ? n : 0 }' \
		out
}

# Samples of the image $1.
samples_of()
{
	awk -v path="$1" '$1 == "image" && $3 == path { n += $2 } END { print n + 0 }' out
}

# Samples of ./out that were taken and lost: how many a late timer missed is up to the
# host.
lost_after_all()
{
	echo $(($(of lost) - $(of lost_missed)))
}

expect_no_loss()
{
	[ "$(lost_after_all)" = 0 ] || fail "$(lost_after_all) samples are lost: $(tell)"
}

# How many files below directory $1 there are samples of in ./out.
told_below()
{
	awk -v dir="$1/" '$1 == "image" && index($3, dir) == 1 && !seen[$3]++ { n++ }
		END { print n + 0 }' out
}

# How many images ./out tells (start -i) that are not below one of these directories.
told_beside()
{
	awk -v dirs="$*" '
		function is_below(path, i)
		{
			for (i in dir)
				if (index(path, dir[i] "/") == 1)
					return 1
			return 0
		}
		BEGIN { split(dirs, dir) }
		$1 == "file" && !is_below($NF) { n++ }
		END { print n + 0 }' out
}

# Makes directories in which everybody may write.
open_to_all()
{
	mkdir -p "$@"
	chmod 777 "$@"
}

# Ends a process that was started in the background.
end_of()
{
	kill "$1"
	wait "$1" 2>/dev/null || :
}

# expect NAME -gt NUMBER, and the like
expect()
{
	test "$(of "$1")" "$2" "$3" || fail "$1 is $(of "$1"), not $2 $3"
}

tell()
{
	awk 'NF == 2 && $1 ~ /^[a-z_0-9]*$/ && $2 > 0 { printf "%s=%s ", $1, $2 }
		END { print "" }' out
}

# expect_callers PROGRAM REGEX: ./out (bufdump -v) has samples of its innermost(), and
# what follows them is as it should be: names of functions with a space before each, save
# where a function is just being entered or left.
expect_callers()
{
	awk -v program="/bin/$1" -v want="$2" '
	function hex(s, i, v)
	{
		for (i = v = 0; ++i <= length(s);)
			v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
		return v
	}

	function function_at(place, off, name)
	{
		off = hex(off)
		for (name in first)
			if (place == program && off >= first[name] && off <= last[name])
				return name
		return "other"
	}

	function finish()
	{
		samples += counting
		right += counting && chain ~ want
		chain = counting = ""
	}

	FILENAME != "out" {
		first[$1] = hex($2)
		last[$1] = hex($2) + hex($3)
	}
	FILENAME == "out" && $1 == "sample" {
		finish()
		counting = function_at($2, $3) == "innermost"
	}
	FILENAME == "out" && $1 == "call" {
		chain = chain " " function_at($2, $3)
	}
	END {
		finish()
		print samples " samples, " right " with the right callers"
		exit !(samples >= 50 && right >= samples * 0.95)
	}' "/guest/$1.symbols" out || fail "call chains are wrong: $(grep -A 9 \
		"^sample /bin/$1 " out | head -n 40)"
}
