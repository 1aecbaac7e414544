/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSPEC_SAMPLE_CPU_TYPE_H
#define LIBSPEC_SAMPLE_CPU_TYPE_H

#include <stdint.h>

/* CPU types of the headers of sample files, by their numbers: cpu_type_list.h. */

/* What OProfile's reports call it, or NULL. */
const char *spec_cpu_name(uint32_t number);

/* The name of its directory of events in OProfile, "i386/haswell", or NULL. */
const char *spec_cpu_type(uint32_t number);

#endif
