// SPDX-License-Identifier: GPL-2.0-or-later
// Keeps node busy, for ever: calls from JavaScript to C++ and back.
function fib(n) {
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

for (;;) {
	const many = Array.from({ length: 100 }, (_, i) => "x" + i);

	JSON.parse(JSON.stringify({ a: [1, 2, { b: many }] }));
	fib(18);
	"abc".repeat(1000).replace(/b+c/g, (m) => m + "d");
	[..."hello world".repeat(50)].sort();
}
