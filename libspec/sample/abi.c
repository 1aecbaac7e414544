/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libspec/sample/abi.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/number.h"
#include "base/strbuf.h"

enum { MAX_TEXT = 64 << 10, MAX_SHOWN = 60 };

/* On machines of 32 bits that align numbers of 64 bits to 4 bytes. */
struct narrow_header {
	char magic[4];
	uint32_t version, cpu_type, event, unit_mask, count, is_kernel;
	double cpu_mhz;
	uint64_t mtime;
	uint32_t cg_to_is_kernel;
	uint64_t anon_start, cg_to_anon_start;
} __attribute__((packed, aligned(4)));
#define narrow_descr spec_sample_descr
#define narrow_node spec_sample_node

/* A line, and what it is on this machine, which is little endian (base/cursor.c). */
static const struct row {
	const char *name;
	uint32_t native, narrow;
	uint32_t bytes; /* of a field; else 0 */
	int part;       /* of a field: the struct that it lies in; else -1 */
	bool any;       /* a struct may have another size, the flag another value */
} rows[] = {
#define ABI_SIZE(id, name, bytes) [SPEC_ABI_##id] = { name, bytes, bytes, 0, -1, false },
#define ABI_PART(id, name, type)                                                         \
	[SPEC_ABI_##id] = { name,                                                        \
			    sizeof(struct spec_sample_##type),                           \
			    sizeof(struct narrow_##type),                                \
			    0,                                                           \
			    -1,                                                          \
			    true },
#define ABI_FIELD(id, name, part, type, member)                                          \
	[SPEC_ABI_##id] = { name,                                                        \
			    offsetof(struct spec_sample_##type, member),                 \
			    offsetof(struct narrow_##type, member),                      \
			    sizeof(((struct narrow_##type *)0)->member),                 \
			    SPEC_ABI_##part,                                             \
			    true },
#define ABI_FLAG(id, name) [SPEC_ABI_##id] = { name, 1, 1, 0, -1, true },
#include "libspec/sample/abi_list.h"
};

/* ---- the file */

static int bad(struct err *err, const char *why, const char *name)
{
	return err_set(err, -EBADMSG, SPEC_ABI ": %s %s", name, why);
}

/* @given: the line that gave it, or 0. */
static int check_row(const struct spec_abi *abi, size_t i, unsigned given,
		     struct err *err)
{
	const struct row *r = &rows[i];
	uint32_t value = abi->value[i], room;

	if (!given)
		return bad(err, "is missing", r->name);
	if (!r->any && value != r->native)
		return err_set(err, -EBADMSG, SPEC_ABI ": %s is %u: only %u is known",
			       r->name, value, r->native);
	if (i == SPEC_ABI_LITTLE_ENDIAN)
		return value > 1 ? bad(err, "is neither 0 nor 1", r->name) : 0;
	if (r->part < 0)
		return value && value <= SPEC_ABI_MAX_PART
			       ? 0
			       : err_set(err, -EBADMSG,
					 SPEC_ABI ": %s is %u: not within 1 and %d",
					 r->name, value, SPEC_ABI_MAX_PART);
	room = abi->value[r->part];
	if (value <= room && r->bytes <= room - value)
		return 0;
	return err_set(err, -EBADMSG,
		       SPEC_ABI ": %s is %u: %u bytes from there on do not fit into "
				"the %u of %s",
		       r->name, value, r->bytes, room, rows[r->part].name);
}

/* Fields are checked after all lines were read: a struct's size may follow them. */
static int check_rows(const struct spec_abi *abi, const unsigned *lines, struct err *err)
{
	int rc = 0;

	for (int fields = 0; fields < 2; fields++)
		for (size_t i = 0; i < SPEC_NR_ABI && !rc; i++)
			if ((rows[i].part >= 0) == fields)
				rc = check_row(abi, i, lines[i], err);
	return rc;
}

/* A name that is not known says something that a reader can do without. */
static int take_line(struct spec_abi *abi, unsigned *lines, unsigned nr, char *line,
		     struct err *err)
{
	char *number = strchr(line, ' ');
	uint64_t value;

	if (!number || !number_parse(number + 1, 10, UINT32_MAX, &value))
		return err_set(err, -EBADMSG,
			       SPEC_ABI ": line %u is no NAME NUMBER: %.*s", nr,
			       MAX_SHOWN, line);
	*number = '\0';
	for (size_t i = 0; i < SPEC_NR_ABI; i++) {
		if (strcmp(line, rows[i].name) != 0)
			continue;
		if (lines[i])
			return err_set(err, -EBADMSG,
				       SPEC_ABI ": %s is given twice, in lines %u and %u",
				       line, lines[i], nr);
		lines[i] = nr;
		abi->value[i] = (uint32_t)value;
	}
	return 0;
}

int spec_abi_parse(const char *text, size_t len, struct spec_abi *out, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf line = { 0 };
	unsigned lines[SPEC_NR_ABI] = { 0 };
	struct spec_abi abi = { 0 };
	unsigned nr = 0;
	int rc = 0;

	if (memchr(text, '\0', len))
		return err_set(err, -EBADMSG, SPEC_ABI ": is no text");
	for (size_t n; len && !rc; text += n, len -= n) {
		const char *end = memchr(text, '\n', len);

		n = end ? (size_t)(end - text) + 1 : len;
		strbuf_reset(&line);
		strbuf_add(&line, text, n - (end != NULL));
		rc = strbuf_error(&line) ? err_errno(err, -ENOMEM, SPEC_ABI)
					 : take_line(&abi, lines, ++nr, line.data, err);
	}
	rc = rc ? rc : check_rows(&abi, lines, err);
	if (!rc)
		*out = abi;
	return rc;
}

int spec_abi_read(int session_dir_fd, struct spec_abi *out, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	int rc = file_slurp(session_dir_fd, SPEC_ABI, MAX_TEXT, &text, err);

	return rc ? rc : spec_abi_parse(strbuf_str(&text), text.len, out, err);
}

int spec_abi_write(int session_dir_fd, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	for (size_t i = 0; i < SPEC_NR_ABI; i++)
		strbuf_printf(&text, "%s %u\n", rows[i].name, rows[i].native);
	if (strbuf_error(&text))
		return err_errno(err, -ENOMEM, SPEC_ABI);
	return file_replace(session_dir_fd, SPEC_ABI, text.data, text.len, 0644, 0, err);
}

/* ---- what it says */

bool spec_abi_is_native(const struct spec_abi *abi)
{
	for (size_t i = 0; i < SPEC_NR_ABI; i++)
		if (abi->value[i] != rows[i].native)
			return false;
	return true;
}

const char *spec_abi_describe(const struct spec_abi *abi)
{
	static const char *const texts[2][2] = {
		{ "big endian", "big endian, 32 bit" },
		{ "little endian", "little endian, 32 bit" },
	};
	static const enum spec_abi_row wide[] = { SPEC_ABI_CPU_SPEED, SPEC_ABI_MTIME,
						  SPEC_ABI_ANON_START,
						  SPEC_ABI_CG_TO_ANON_START };
	bool narrow = false;

	for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++)
		narrow |= abi->value[wide[i]] % sizeof(uint64_t) != 0;
	return texts[abi->value[SPEC_ABI_LITTLE_ENDIAN]][narrow];
}

size_t spec_abi_nodes_off(const struct spec_abi *abi)
{
	return (size_t)abi->value[SPEC_ABI_HEADER] + abi->value[SPEC_ABI_DESCR] +
	       abi->value[SPEC_ABI_NODE];
}

/* The fields @first to @last, of one struct. */
static void convert(const struct spec_abi *abi, enum spec_abi_row first,
		    enum spec_abi_row last, const uint8_t *from, uint8_t *to)
{
	for (size_t i = first; i <= last; i++) {
		const uint8_t *in = from + abi->value[i];
		uint8_t *out = to + rows[i].native;
		uint32_t bytes = rows[i].bytes;

		if (abi->value[SPEC_ABI_LITTLE_ENDIAN] || i == SPEC_ABI_MAGIC)
			memcpy(out, in, bytes);
		else
			for (uint32_t b = 0; b < bytes; b++)
				out[b] = in[bytes - 1 - b];
	}
}

void spec_abi_start(const struct spec_abi *abi, const void *from,
		    struct spec_sample_header *header, struct spec_sample_descr *descr)
{
	const uint8_t *bytes = from;

	*header = (struct spec_sample_header){ 0 };
	*descr = (struct spec_sample_descr){ 0 };
	convert(abi, SPEC_ABI_MAGIC, SPEC_ABI_CG_TO_ANON_START, bytes, (void *)header);
	convert(abi, SPEC_ABI_SIZE, SPEC_ABI_USED, bytes + abi->value[SPEC_ABI_HEADER],
		(void *)descr);
}

void spec_abi_nodes(const struct spec_abi *abi, const void *from, size_t nr,
		    struct spec_sample_node *to)
{
	const uint8_t *bytes = from;

	for (size_t i = 0; i < nr; i++, bytes += abi->value[SPEC_ABI_NODE])
		convert(abi, SPEC_ABI_NODE_KEY, SPEC_ABI_NODE_NEXT, bytes,
			(void *)&to[i]);
}

/* ---- files without it */

static bool fits(const struct spec_abi *abi, const void *start, uint64_t file_len)
{
	const uint64_t off = spec_abi_nodes_off(abi) - abi->value[SPEC_ABI_NODE];
	const uint64_t slot = abi->value[SPEC_ABI_NODE] + sizeof(uint32_t);
	struct spec_sample_header h;
	struct spec_sample_descr d;

	spec_abi_start(abi, start, &h, &d);
	return !memcmp(h.magic, SPEC_SAMPLE_MAGIC, sizeof(h.magic)) &&
	       h.version == SPEC_SAMPLE_VERSION && d.current_size &&
	       d.current_size <= d.size && file_len == off + slot * d.size;
}

bool spec_abi_recognise(const void *start, size_t len, uint64_t file_len,
			struct spec_abi *out)
{
	static const struct {
		bool little, narrow;
	} machines[] = { { true, true }, { false, false }, { false, true } };

	for (size_t m = 0; m < sizeof(machines) / sizeof(machines[0]); m++) {
		struct spec_abi abi;

		for (size_t i = 0; i < SPEC_NR_ABI; i++)
			abi.value[i] =
				machines[m].narrow ? rows[i].narrow : rows[i].native;
		abi.value[SPEC_ABI_LITTLE_ENDIAN] = machines[m].little;
		if (len < spec_abi_nodes_off(&abi) - abi.value[SPEC_ABI_NODE] ||
		    !fits(&abi, start, file_len))
			continue;
		*out = abi;
		return true;
	}
	return false;
}
