/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libspec/sample/cpu_type.h"

#include <stddef.h>

static const struct cpu {
	uint32_t number;
	const char *type, *name;
} cpus[] = {
#define CPU(number_, type_, name_) { number_, type_, name_ },
#include "libspec/sample/cpu_type_list.h"
#undef CPU
};

static const struct cpu *find(uint32_t number)
{
	for (size_t i = 0; i < sizeof(cpus) / sizeof(cpus[0]); i++)
		if (cpus[i].number == number)
			return &cpus[i];
	return NULL;
}

const char *spec_cpu_name(uint32_t number)
{
	const struct cpu *cpu = find(number);

	return cpu ? cpu->name : NULL;
}

const char *spec_cpu_type(uint32_t number)
{
	const struct cpu *cpu = find(number);

	return cpu ? cpu->type : NULL;
}
