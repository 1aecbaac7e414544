# SPDX-License-Identifier: GPL-2.0-or-later
# Tells modules that are not one .c and one .h: a .c without a header that defines what
# others may call or use, and a header without a .c that declares functions.  A .c needs
# no header if it defines only the main() of a program or subcommand, or rows of tables,
# which bear its name; a header needs no .c if all that it declares is in it, or is what
# the driver exports to other modules of the kernel.  To be run on all of them.
BEGIN {
	for (i = 1; i < ARGC; i++)
		present[ARGV[i]] = 1
}
function twin(path) {
	return substr(path, 1, length(path) - 1) (path ~ /h$/ ? "c" : "h")
}
# A declaration at the start of a line, as far as its first ; or { or =.
function take(text,   name, row) {
	gsub(/__attribute__ *\(\([^)]*\)+/, "", text)
	if (text ~ /^(static|typedef|_Static_assert)/)
		return
	name = text
	sub(/ *([(=[].*|;)$/, "", name)
	sub(/.*[ *]/, "", name)
	if (text ~ /\(/) {
		if (text !~ (is_header() ? ";$" : "{$"))
			return
		if (name !~ /(^|_)main$|^[A-Z_0-9]+$/)
			tell(name "()")
	} else if (!is_header() && text ~ /[;=]$/ && text !~ /^(struct|enum) [^ ]*;/) {
		row = FILENAME
		sub(/.*\//, "", row)
		sub(/\.c$/, "", row)
		if (("_" name) !~ ("_" row "(_|$)"))
			tell(name)
	}
}
function is_header() {
	return FILENAME ~ /h$/
}
function tell(name) {
	verb = is_header() ? "declares " : "defines "
	found[++count] = FILENAME ":" first ": " verb name ", and there is no " \
		twin(FILENAME)
	what[count] = name
	told[FILENAME] = 1
}
/^EXPORT_SYMBOL/ {
	name = $0
	sub(/.*\(/, "", name)
	sub(/\).*/, "()", name)
	exported[name] = 1
}
FNR == 1 {
	text = ""
	checked = !present[twin(FILENAME)]
}
!checked || told[FILENAME] {
	next
}
/^[A-Za-z_]/ && text == "" {
	first = FNR
	text = " "
}
text != "" {
	line = $0
	sub(/\/\*.*/, "", line)
	sub(/^[ \t]+/, "", line)
	text = text " " line
	if (text ~ /[;{=]/) {
		match(text, /[;{=]/)
		text = substr(text, 1, RSTART)
		sub(/^ +/, "", text)
		take(text)
		text = ""
	}
}
END {
	for (i = 1; i <= count; i++)
		if (!(what[i] in exported))
			print found[i]
}
