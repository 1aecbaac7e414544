/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/profile/stack_choice.h"

#include <errno.h>

struct row_key {
	uint32_t app, image;
	const struct sym *sym;
};

int stack_choice_init(struct stack_choice *c, const struct profile *p)
{
	*c = (struct stack_choice){ .p = p };
	for (size_t i = 0; p->parent && i < p->nr_rows; i++) {
		const struct profile_row *row = &p->rows[i];
		const struct row_key key = { row->app, row->image, row->sym };

		if (!row->aside && map_set(&c->rows, &key, sizeof(key), 1)) {
			stack_choice_fini(c);
			return -ENOMEM;
		}
	}
	return 0;
}

bool stack_choice_has(const struct stack_choice *c, const struct profile_stack *s)
{
	const struct profile_stacks *all = c->p->stacks;
	const struct profile_stack_file *f = &all->files[s->file];
	const struct profile_func *func = &all->funcs[all->frames[s->frame].func];
	const struct row_key key = { f->app, f->file->image, func->sym };

	return !c->p->parent || (func->image != CATALOG_NO_IMAGE &&
				 map_get(&c->rows, &key, sizeof(key), NULL));
}

void stack_choice_fini(struct stack_choice *c)
{
	map_fini(&c->rows);
	c->p = NULL;
}
