# SPDX-License-Identifier: GPL-2.0-or-later
# Tells the cycles among the modules of a folder, each as "a.c -> b.c (symbol) -> a.c
# (symbol)": a.c uses the symbol, which b.c defines.  Reads "nm -A" of all objects; "cut"
# is what their names begin with.
{
	module = $1
	sub(/:.*/, "", module)
	module = substr(module, length(cut) + 1)
	sub(/o$/, "c", module)
	type = $(NF - 1)
	if (type == "U") {
		uses[++used] = module
		symbol[used] = $NF
	} else if (type ~ /^[A-Z]$/) {
		home[$NF] = module
	}
}
function folder_of(path) {
	sub(/\/[^\/]*$/, "", path)
	return path
}
function file_of(path) {
	sub(/.*\//, "", path)
	return path
}
function step(from, to) {
	return " -> " file_of(to) " (" via[from, to] ")"
}
# Tells the shortest way from a module back to itself, if any; a cycle is told once, from
# its first module in the alphabet on.
function seek(start,   queue, from, n, i, at, list, j, to, way) {
	queue[n = 1] = start
	for (i = 1; i <= n; i++) {
		at = queue[i]
		for (j = 1; j <= outs[at]; j++) {
			to = out[at, j]
			if (to == start) {
				way = ""
				for (to = start; ; at = from[at]) {
					way = step(at, to) way
					if (at == start)
						break
					if (at < start)
						return
					to = at
				}
				print folder_of(start) "/: " file_of(start) way
				return
			}
			if (!(to in from)) {
				from[to] = at
				queue[++n] = to
			}
		}
	}
}
END {
	for (i = 1; i <= used; i++) {
		a = uses[i]
		b = home[symbol[i]]
		if (b == "" || a == b || folder_of(a) != folder_of(b) || ((a, b) in via))
			continue
		via[a, b] = symbol[i]
		out[a, ++outs[a]] = b
		if (!(a in known))
			modules[++count] = a
		known[a] = 1
	}
	for (i = 1; i <= count; i++)
		seek(modules[i])
}
