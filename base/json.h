/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"

/* Writes JSON, with the commas where they belong.  A zeroed one with @out is ready. */
struct json {
	struct strbuf *out;
	bool comma; /* due before the next key or value */
	bool line;  /* it begins a line */
};

void json_open(struct json *j, char bracket);   /* '{' or '[' */
void json_close(struct json *j, char bracket);  /* '}' or ']' */
void json_key(struct json *j, const char *key); /* plain ASCII */
/* What comes next begins a line: one thing a line can be read, and compared, by
 * people. */
void json_line(struct json *j);

void json_string(struct json *j, const char *text); /* any bytes; NULL: null */
/* Begins a value that the caller writes, and returns where. */
struct strbuf *json_value(struct json *j);
void json_number(struct json *j, uint64_t n);
void json_integer(struct json *j, int64_t n);
void json_real(struct json *j, double x); /* finite */
/* The text of the same; returns its length, which is below @size of at least 24. */
size_t json_format_real(double x, char *out, size_t size);
void json_bool(struct json *j, bool x);
void json_null(struct json *j);
/* Members of an object: the key and the value. */
void json_text(struct json *j, const char *key, const char *text);
void json_count(struct json *j, const char *key, uint64_t n);
void json_flag(struct json *j, const char *key, bool x);
void json_none(struct json *j, const char *key); /* null */
/* null if it is not known */
void json_figure(struct json *j, const char *key, bool known, uint64_t n);
/* An address: "0x..." in a string, for many readers keep no more than 53 bits of a
 * number. */
void json_address(struct json *j, uint64_t address);

#endif
