# SPDX-License-Identifier: GPL-2.0-or-later
# Run by layers.sh on every C file.
BEGIN {
	may["base"] = "base"
	may["libspec"] = "base libspec"
	may["libsym"] = "base libsym"
	may["events"] = "base events"
	may["collector"] = "base libspec events kernel/uapi collector"
	may["opfs"] = "base libspec libsym events opfs"
	may["kernel/uapi"] = "kernel/uapi"
	# foreign header => the only files that may include it; <elf.h> is libc's
	only["^fuse(_lowlevel|_opt|_common)?[.]h$|^fuse3?/"] = \
		"^opfs/(main|mount|fuse_[a-z0-9_]*)[.][ch]$"
	only["^(gelf|libelf|nlist|dwarf)[.]h$"] = "^(libsym/|tests/unit/libsym/)"
	only["^elfutils/|^libelf/|^libdw|^libdwfl"] = "^(libsym/|tests/unit/libsym/)"
	only["^(libiberty/)?demangle[.]h$"] = "^libsym/"
	only["^(dis-asm|bfd)[.]h$"] = "^libsym/"
	only["^seccomp[.]h$"] = "^libsym/"
	only["^archive(_entry)?[.]h$"] = "^opfs/tar_header[.]c$"
	only["^nettle/"] = "^(opfs/tar_|libspec/manifest)"
	only["^zstd[.]h$"] = "^libsym/"
	only["^criterion/"] = "^tests/unit/"
}
function fail(why) {
	printf "%s:%d: %s\n", FILENAME, FNR, why > "/dev/stderr"
	bad = 1
}
function folder_of(path) {
	sub(/^tests\/unit\//, "", path)
	if (path ~ /^kernel\/uapi\//)
		return "kernel/uapi"
	sub(/\/.*/, "", path)
	return path
}
function allowed(folder, want,   n, i, list) {
	n = split(may[folder], list, " ")
	for (i = 1; i <= n; i++)
		if (list[i] == want)
			return 1
	return 0
}
FNR == 1 {
	folder = folder_of(FILENAME)
	own = ""
	if (FILENAME !~ /^tests\// && FILENAME ~ /[.]c$/) {
		own = FILENAME
		sub(/[.]c$/, ".h", own)
		if ((getline line < own) < 0)
			own = ""
		close(own)
	}
	first = 1
}
/^[ \t]*#[ \t]*include[ \t]*"/ {
	split($0, part, "\"")
	header = part[2]
	if (first && own != "" && header != own)
		fail("\"" own "\" must be included first")
	first = 0
	if (header !~ /\//)
		fail("\"" header "\": paths start at the root")
	else if (!(header ~ /^tests\// && FILENAME ~ /^tests\//) &&
		 !allowed(folder, folder_of(header)))
		fail("\"" header "\": " folder "/ includes only " may[folder])
}
/^[ \t]*#[ \t]*include[ \t]*</ {
	header = $0
	sub(/^[^<]*</, "", header)
	sub(/>.*/, "", header)
	if (first && own != "")
		fail("\"" own "\" must be included first")
	first = 0
	for (pattern in only)
		if (header ~ pattern && FILENAME !~ only[pattern])
			fail("<" header ">: not in " FILENAME)
}
END { exit bad }
