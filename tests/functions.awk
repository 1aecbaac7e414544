# SPDX-License-Identifier: GPL-2.0-or-later
# Tells functions of more than "most" lines; and, if fewer than "percent" of a hundred
# have at most "usual" lines, those that have more.  Reads what clang-format laid out: a
# function begins, and its braces stand, at the start of a line.
FNR == 1 {
	within = 0
	continued = 0
}
!within && /^[A-Za-z_]/ {
	if (!continued)
		head = FNR
	continued = !/[;}]$/
	next
}
/^\{/ {
	within = 1
}
within && /^\}/ {
	within = 0
	lines = FNR - head + 1
	place = FILENAME ":" head ": a function of " lines " lines, of at most "
	count++
	if (lines > most)
		print place most
	else if (lines > usual)
		long[++longs] = place usual " in " percent " of 100"
}
/^($|\})/ {
	continued = 0
}
END {
	if ((count - longs) * 100 < count * percent)
		for (i = 1; i <= longs; i++)
			print long[i]
}
