/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "collector/engine/budget.h"

/* No process has this number: it counts as another user's than ours. */
enum { NOBODY = 5000000, EACH = 100 };

/* How many of @nr records are passed over. */
static unsigned passed(struct coll_budget *b, uint32_t tgid, uint64_t second, unsigned nr)
{
	unsigned n = 0;

	for (unsigned i = 0; i < nr; i++)
		n += coll_budget_spent(b, tgid, second * CLOCK_NS_PER_S + i);
	return n;
}

Test(budget, each_user_has_one_of_his_own_every_second)
{
	CLEANUP(coll_budget_fini) struct coll_budget b = { .each = EACH };
	uint32_t self = (uint32_t)getpid();

	/* as long as all are within one user's, nobody is looked at */
	cr_expect_eq(passed(&b, NOBODY, 1, EACH), 0);
	cr_expect_eq(b.owners.used, 0);
	cr_expect_eq(passed(&b, NOBODY, 1, 3 * EACH), 2 * EACH);
	cr_expect_eq(passed(&b, self, 1, EACH), 0);
	cr_expect_eq(passed(&b, self, 1, EACH), EACH);
	cr_expect_eq(passed(&b, NOBODY + 1, 1, 1), 1, "the same user");
	cr_expect_eq(b.owners.used, 3);
	cr_expect_eq(passed(&b, NOBODY, 2, 2 * EACH), 0);
	cr_expect_eq(passed(&b, NOBODY, 1, 1), 1, "what waited counts in this second");
}

Test(budget, without_a_limit_nobody_is_looked_at)
{
	CLEANUP(coll_budget_fini) struct coll_budget b = { 0 };

	cr_expect_eq(passed(&b, NOBODY, 1, 1000), 0);
	cr_expect_eq(b.owners.used, 0);
}
