/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_ELF_VDSO_H
#define LIBSYM_ELF_VDSO_H

#include <stdbool.h>
#include <stddef.h>

/* The vdso as it is mapped into this process; true if there is one. */
bool sym_vdso_image(void **image, size_t *size);

#endif
