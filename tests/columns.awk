# SPDX-License-Identifier: GPL-2.0-or-later
# Tells lines that take more than "most" columns, with a tab stop every 8.  To be run in
# the C locale: bytes that continue a character take no column.
{
	width = 0
	n = split($0, parts, "\t")
	for (i = 1; i <= n; i++) {
		gsub(/[\200-\277]/, "", parts[i])
		width += length(parts[i])
		if (i < n)
			width += 8 - width % 8
	}
	if (width > most)
		print FILENAME ":" FNR ": " width " columns, of at most " most
}
