# SPDX-License-Identifier: GPL-2.0-or-later
# Tells, as file:line, what a source includes that its folder must not know.
BEGIN {
	may["base"] = "base"
	may["libspec"] = "base libspec"
	may["libsym"] = "base libsym"
	may["libcfi"] = "base libcfi"
	may["events"] = "base events"
	may["collector"] = "base libspec libcfi events kernel/uapi collector"
	may["opfs"] = "base libspec libsym events opfs"
	may["kernel/uapi"] = "kernel/uapi"
	# The rooms of a folder, each of which may include those to its right; what lies
	# in the folder itself is "main".
	rooms["opfs"] = "main mount cli tree report/source report/archive " \
		"report/flame report/export report profile session"
	rooms["events"] = "generate main table"
	rooms["libspec"] = "spec stack jit session sample name"
	rooms["libsym"] = "server helper code dwarf elf wire file table"
	rooms["collector"] = "main count record daemon events engine run source " \
		"store who rec"
	# foreign header => the only files that may include it; <elf.h> is libc's
	only["^fuse(_lowlevel|_opt|_common)?[.]h$|^fuse3?/"] = \
		"^opfs/(main[.]c$|mount/)"
	only["^(gelf|libelf|nlist)[.]h$|^elfutils/[^d]"] = \
		"^(libsym/(elf|dwarf)/|tests/unit/libsym/)"
	only["^elfutils/debuginfod[.]h$"] = "^opfs/cli/download[.]c$"
	only["^dwarf[.]h$"] = \
		"^(libsym/dwarf/|tests/unit/libsym/|libcfi/program[.]c$)"
	only["^elfutils/(libdw|libdwfl)[.]h$"] = \
		"^(libsym/dwarf/|tests/unit/libsym/)"
	only["^(libiberty/)?demangle[.]h$"] = "^libsym/table/"
	only["^(dis-asm|bfd)[.]h$"] = "^libsym/code/"
	only["^seccomp[.]h$"] = "^base/box/"
	only["^archive(_entry)?[.]h$"] = "^opfs/report/archive/tar_header[.]c$"
	only["^nettle/"] = "^(opfs/report/archive/tar|libspec/session/manifest)"
	only["^zlib[.]h$"] = "^opfs/report/export/gzip[.]c$"
	only["^(zstd|lzma)[.]h$"] = "^libsym/(elf|dwarf)/"
	only["^criterion/"] = "^tests/unit/"
}
function fail(why) {
	printf "%s:%d: %s\n", FILENAME, FNR, why
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
# Where a file stands among the rooms of its folder; 0: the folder has none.
function room_of(path,   folder, n, i, list) {
	folder = folder_of(path)
	n = split(rooms[folder], list, " ")
	if (path ~ /^tests\//)
		return n ? 1 : 0
	sub(/\/[^\/]*$/, "", path)
	for (i = 1; i <= n; i++)
		if (path == folder (list[i] == "main" ? "" : "/" list[i]))
			return i
	if (n)
		fail(path " is no room of " folder ": " rooms[folder])
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
	else if (folder_of(header) == folder && room_of(header) < room_of(FILENAME))
		fail("\"" header "\": includes go to the right in " rooms[folder])
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
