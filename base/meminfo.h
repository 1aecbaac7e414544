/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_MEMINFO_H
#define BASE_MEMINFO_H

#include <stdint.h>

/* Bytes of memory that the kernel believes programs can have without swapping; UINT64_MAX
 * if it does not tell. */
uint64_t meminfo_available(void);

#endif
