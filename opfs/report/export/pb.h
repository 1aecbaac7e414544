/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORT_EXPORT_PB_H
#define OPFS_REPORT_EXPORT_PB_H

#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

/* The wire format of protocol buffers: a message is its fields one after another. */

/* Seven bits a byte, the lowest first. */
void pb_varint(struct strbuf *out, uint64_t v);
/* A field of a number; nothing for 0, which is what a field that is missing means. */
void pb_number(struct strbuf *out, unsigned field, uint64_t v);
/* A field of bytes: a string, a message within, or numbers that are varints in a row. */
void pb_bytes(struct strbuf *out, unsigned field, const void *data, size_t len);
void pb_message(struct strbuf *out, unsigned field, const struct strbuf *message);

#endif
