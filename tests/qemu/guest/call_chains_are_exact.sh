# SPDX-License-Identifier: GPL-2.0-or-later
# qemu: 40 x86 arm64
# nested calls outermost, that calls middle, that calls innermost: these follow every
# sample of that, save where it is just being entered or left.
. /guest/lib.sh
load
put backtrace_depth 8
put timer_hz 1000
start -v
until_taken 200 nested 1500
stop
awk '
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
		if (place == "/bin/nested" && off >= first[name] && off <= last[name])
			return name
	return "other"
}

function finish()
{
	samples += counting
	right += counting && chain ~ /^ middle outermost/
	chain = counting = ""
}

FILENAME == "/guest/nested.symbols" {
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
}' /guest/nested.symbols out || fail "call chains are wrong: $(head -n 40 out)"
unload
