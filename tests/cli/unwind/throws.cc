/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Throws for ever, through frames with and without something to destroy. */
#include <string>
#include <vector>

static volatile int sink;

#define APART __attribute__((noinline))

struct guarded {
	std::string text;
	explicit guarded(int n) : text(std::to_string(n) + " and more than fits in place") {}
	APART ~guarded() { sink = sink + (int)text.size(); }
};

APART static void thrower(int n)
{
	guarded g(n);

	if (n % 3)
		throw std::string("thrown from below");
	throw n;
}

APART static void passes(int n)
{
	std::vector<guarded> all;

	for (int i = 0; i < n % 5; i++)
		all.emplace_back(i);
	if (n % 16)
		passes(n - 1);
	thrower(n);
}

APART static int rethrows(int n)
{
	try {
		passes(n);
	} catch (int caught) {
		sink = caught;
		throw;
	}
	return 0;
}

int main()
{
	for (int n = 1;; n++) {
		try {
			rethrows(n);
		} catch (const std::string &s) {
			sink = (int)s.size();
		} catch (int) {
			sink = sink + 1;
		}
	}
}
