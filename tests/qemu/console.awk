# SPDX-License-Identifier: GPL-2.0-or-later
# console.awk: the guest's console log to TAP.  Set kernel=NAME and complaints=FILE, which
# holds a pattern a line, after "! " one of what is harmless; a test during which the
# kernel complained has failed.
BEGIN {
	while ((getline line < complaints) > 0) {
		if (line ~ /^! /)
			harmless = harmless (harmless == "" ? "" : "|") substr(line, 3)
		else if (line != "" && line !~ /^#/)
			pattern = pattern (pattern == "" ? "" : "|") line
	}
}

function result(ok, name, note)
{
	print (ok ? "ok " : "not ok ") ++n " " kernel ": " name note
}

# Why it failed, which is at the end, stands first as well: what is long may be cut.
function show_details()
{
	for (i = 1; i <= nr_details; i++)
		if (details[i] ~ /^FAILED:/)
			print "#   " details[i]
	for (i = 1; i <= nr_details; i++)
		print "#   " details[i]
}

{ sub(/\r$/, "") }

/opfs-tap: / {
	$0 = substr($0, index($0, "opfs-tap: ") + 10)
	if ($1 == "begin") {
		name = $2
		nr_details = bad = trailing = 0
	} else if ($1 == "|") {
		sub(/^\| ?/, "")
		details[++nr_details] = $0
	} else if ($1 == "end" && $3 == 77) {
		result(1, name, " # SKIP " details[nr_details])
		name = ""
	} else if ($1 == "end") {
		good = $3 == 0 && !bad
		result(good, name, " (" $4 " s)")
		if ($3 == 137 || $3 == 143)
			print "#   not finished in time"
		if (!good || verbose)
			show_details()
		name = ""
	} else if ($1 == "done") {
		finished = 1
	}
	next
}

$0 ~ pattern && $0 !~ harmless {
	if (name == "")
		outside[++nr_outside] = $0
	bad = 1
	trailing = 30
}

trailing > 0 && name != "" {
	details[++nr_details] = "kernel: " $0
	trailing--
}

{ last[NR % 30] = $0 }

END {
	if (name != "") {
		result(0, name, ": the machine stopped")
		show_details()
	}
	result(!nr_outside, "the kernel has nothing to complain of between tests", "")
	for (i = 1; i <= nr_outside && i < 40; i++)
		print "#   " outside[i]
	result(finished, "the guest ends as it should", "")
	if (!finished && name == "")
		for (i = NR + 1; i <= NR + 30; i++)
			print "#   " last[i % 30]
	print "1.." n
}
