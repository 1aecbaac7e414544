/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/daemon/config.h"

#include <confuse.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/suggest.h"

enum { MAX_FILE = 1 << 20 };

static void setting_fini(struct coll_setting *s)
{
	vec_for(&s->values, v)
		free(*v);
	vec_fini(&s->values);
}

void coll_config_fini(struct coll_config *c)
{
	vec_for(&c->settings, s)
		setting_fini(s);
	vec_fini(&c->settings);
	free(c->file);
	c->file = NULL;
}

static int add_value(struct coll_setting *s, const char *value)
{
	char *copy = strdup(value);

	if (!copy || vec_push(&s->values, copy)) {
		free(copy);
		return -ENOMEM;
	}
	return 0;
}

int coll_config_init(struct coll_config *c, struct err *err)
{
	*c = (struct coll_config){ 0 };
	for (const struct opt *o = coll_daemon_opts; o->name; o++) {
		struct coll_setting s = { .opt = o };
		const char *value = coll_daemon_default(o->name);

		if ((value && add_value(&s, value)) || vec_push(&c->settings, s)) {
			setting_fini(&s);
			return err_errno(err, -ENOMEM, "options");
		}
	}
	return 0;
}

int coll_config_copy(const struct coll_config *from, struct coll_config *to,
		     struct err *err)
{
	*to = (struct coll_config){ .file = from->file ? strdup(from->file) : NULL };
	vec_for(&from->settings, s) {
		struct coll_setting copy = { .opt = s->opt, .origin = s->origin };
		int rc = 0;

		vec_for(&s->values, v)
			rc = rc ? rc : add_value(&copy, *v);
		if (rc || vec_push(&to->settings, copy)) {
			setting_fini(&copy);
			return err_errno(err, -ENOMEM, "options");
		}
	}
	return from->file && !to->file ? err_errno(err, -ENOMEM, "options") : 0;
}

static struct coll_setting *find(const struct coll_config *c, const char *name)
{
	vec_for(&c->settings, s)
		if (!strcmp(s->opt->name, name))
			return s;
	return NULL;
}

const char *coll_config_value(const struct coll_config *c, const char *name)
{
	const struct coll_setting *s = find(c, name);

	return s && s->values.len ? s->values.data[s->values.len - 1] : NULL;
}

static int check_value(const struct opt *o, const char *value, enum coll_origin origin,
		       struct err *err)
{
	struct coll_daemon_options scratch;
	int rc;

	coll_daemon_options_init(&scratch);
	if (origin == COLL_BY_SET)
		scratch.sampling.lookup = COLL_LOOKED_UP;
	rc = o->arg ? o->set(&scratch, value, err) : 0;
	coll_daemon_options_fini(&scratch);
	return rc;
}

int coll_config_give(struct coll_config *c, const char *name, const char *value,
		     enum coll_origin origin, struct err *err)
{
	struct coll_setting *s = find(c, name);
	int rc = s ? check_value(s->opt, value, origin, err)
		   : err_set(err, -EINVAL, "there is no option %s", name);

	if (rc || s->origin > origin)
		return rc;
	if (s->origin < origin)
		setting_fini(s);
	s->origin = origin;
	if (add_value(s, value ? value : "true"))
		return err_errno(err, -ENOMEM, "%s", name);
	return 0;
}

void coll_config_clear(struct coll_config *c, const char *name)
{
	struct coll_setting *s = find(c, name);

	if (!s)
		return;
	setting_fini(s);
	s->origin = COLL_BY_DEFAULT;
}

/* ---- the file, which libconfuse parses */

/* Of the parse that is going on: libconfuse passes nothing of ours. */
static struct err *file_err;
static const char *file_path;

static void tell_unknown(cfg_t *cfg, const char *typed, struct strbuf *out)
{
	struct nearest near = { .typed = typed };

	for (cfg_opt_t *o = cfg->opts; o->name; o++)
		nearest_offer(&near, o->name);
	strbuf_printf(out, "%s: no such option", typed);
	nearest_tell(&near, "", out);
	if (!near.name)
		strbuf_puts(out, "; \"opcollect config\" prints all that there are");
}

__attribute__((format(printf, 2, 0))) static void fault(cfg_t *cfg, const char *fmt,
							va_list ap)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	/* what libconfuse says of a name that is in no row */
	if (!strcmp(fmt, "no such option '%s'"))
		tell_unknown(cfg, va_arg(ap, const char *), &text);
	else
		strbuf_vprintf(&text, fmt, ap);
	if (file_err && !file_err->code)
		err_set(file_err, -EINVAL, "%s:%d: %s", file_path, cfg->line,
			strbuf_str(&text));
}

/* Called with each value, while its line is known. */
static int take_value(cfg_t *cfg, cfg_opt_t *opt, const char *value, void *result)
{
	const char *name = opt_name(coll_option_aliases, opt->name);
	const struct opt *o = coll_daemon_opts;
	struct err why = { 0 };

	while (o->name && strcmp(o->name, name) != 0)
		o++;
	if (!strcmp(opt->name, "config"))
		err_set(&why, -EINVAL,
			"config: only the command line says which file is read");
	else if (o->name)
		check_value(o, value, COLL_BY_FILE, &why);
	if (why.code) {
		cfg_error(cfg, "%s", why.msg);
		return -1;
	}
	*(const char **)result = value;
	return 0;
}

/* @opt: what the file says of @name, or of another name of it. */
static int take_option(struct coll_config *c, const char *name, cfg_opt_t *opt,
		       struct err *err)
{
	int rc = 0;

	if (!find(c, name)->opt->arg)
		return cfg_opt_size(opt) && cfg_opt_getnbool(opt, 0)
			       ? coll_config_give(c, name, NULL, COLL_BY_FILE, err)
			       : 0;
	for (unsigned i = 0; !rc && i < cfg_opt_size(opt); i++)
		rc = coll_config_give(c, name, cfg_opt_getnstr(opt, i), COLL_BY_FILE,
				      err);
	return rc;
}

static int take_file(struct coll_config *c, cfg_t *cfg, const cfg_opt_t *opts,
		     struct err *err)
{
	int rc = 0;

	for (; !rc && opts->name; opts++)
		rc = take_option(c, opt_name(coll_option_aliases, opts->name),
				 cfg_getopt(cfg, opts->name), err);
	return rc;
}

static cfg_opt_t row(const char *name, const struct opt *o)
{
	cfg_opt_t list = CFG_STR_LIST_CB(name, NULL, CFGF_NONE, take_value);
	cfg_opt_t flag = CFG_BOOL(name, cfg_false, CFGF_NODEFAULT);

	return o->arg ? list : flag;
}

static int parse(struct coll_config *c, const char *path, const char *text,
		 struct err *err)
{
	CLEANUP(free_ptr) cfg_opt_t *opts = NULL;
	struct err why = { 0 };
	size_t nr = 0;
	cfg_t *cfg;
	int rc;

	while (coll_option_aliases[nr].alias)
		nr++;
	opts = calloc(c->settings.len + nr + 1, sizeof(*opts));
	nr = 0;
	if (!opts)
		return err_errno(err, -ENOMEM, "%s", path);
	vec_for(&c->settings, s)
		opts[nr++] = row(s->opt->name, s->opt);
	for (const struct opt_alias *a = coll_option_aliases; a->alias; a++)
		if (find(c, a->name))
			opts[nr++] = row(a->alias, find(c, a->name)->opt);
	opts[nr] = (cfg_opt_t)CFG_END();
	cfg = cfg_init(opts, CFGF_NONE);
	if (!cfg)
		return err_errno(err, -ENOMEM, "%s", path);
	cfg_set_error_function(cfg, fault);
	file_err = &why;
	file_path = path;
	rc = cfg_parse_buf(cfg, text);
	file_err = NULL;
	if (rc != CFG_SUCCESS && !why.code)
		err_set(&why, -EINVAL, "%s: not understood", path);
	rc = why.code ? err_set(err, why.code, "%s", why.msg)
		      : take_file(c, cfg, opts, err);
	cfg_free(cfg);
	return rc;
}

/* libconfuse 3.3 counts the line of such a comment twice. */
static void blank_comments(char *text)
{
	char quote = '\0';

	for (; *text; text++) {
		if (quote && *text == '\\' && text[1])
			text++;
		else if (quote)
			quote = *text == quote ? '\0' : quote;
		else if (*text == '"' || *text == '\'')
			quote = *text;
		else if (*text == '#')
			memset(text, ' ', strcspn(text, "\n"));
	}
}

int coll_config_read(struct coll_config *c, const char *path, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	const char *from = path ? path : COLL_DEFAULT_CONFIG;
	int rc = file_slurp(AT_FDCWD, from, MAX_FILE, &text, err);

	if (rc == -ENOENT && !path)
		return 0;
	if (rc)
		return rc;
	free(c->file);
	c->file = strdup(from);
	if (!c->file)
		return err_errno(err, -ENOMEM, "%s", from);
	if (strlen(strbuf_str(&text)) != text.len)
		return err_set(err, -EINVAL, "%s: holds a zero byte", from);
	if (text.len)
		blank_comments(text.data);
	return parse(c, from, strbuf_str(&text), err);
}

int coll_config_apply(const struct coll_config *c, struct coll_daemon_options *out,
		      struct err *err)
{
	coll_daemon_options_init(out);
	vec_for(&c->settings, s)
		vec_for(&s->values, v) {
			int rc;

			/* what is not there was told when the value was given */
			out->sampling.lookup =
				s->origin == COLL_BY_SET ? COLL_LOOKED_UP : COLL_LOOK_UP;
			rc = s->opt->set(out, s->opt->arg ? *v : NULL, err);

			if (rc)
				return rc;
		}
	if (out->sampling.vmlinux && out->sampling.no_vmlinux)
		return err_set(err, -EINVAL, "vmlinux and no-vmlinux exclude each other");
	/* a rate that nobody asked for does not forbid an event's own count */
	if (find(c, "frequency")->origin == COLL_BY_DEFAULT) {
		out->sampling.default_hz = out->sampling.rate_hz;
		out->sampling.rate_hz = 0;
	}
	return 0;
}

static const char *origin_text(const struct coll_config *c, enum coll_origin origin)
{
	static const char *const text[] = { [COLL_BY_DEFAULT] = "default",
					    [COLL_BY_COMMAND_LINE] = "command line",
					    [COLL_BY_SET] = "opcollect set" };

	return origin == COLL_BY_FILE ? c->file : text[origin];
}

static void print_quoted(struct strbuf *out, const char *value)
{
	strbuf_putc(out, '"');
	for (; *value; value++) {
		if (strchr("\"\\$", *value))
			strbuf_putc(out, '\\');
		strbuf_putc(out, *value);
	}
	strbuf_putc(out, '"');
}

static void print_setting(const struct coll_config *c, const struct coll_setting *s,
			  struct strbuf *out)
{
	size_t from = out->len;

	if (!s->values.len)
		strbuf_puts(out, "# ");
	strbuf_printf(out, "%s = ", s->opt->name);
	if (!s->opt->arg)
		strbuf_puts(out, s->values.len ? s->values.data[0] : "false");
	else if (s->values.len > 1)
		strbuf_putc(out, '{');
	vec_for(&s->values, v) {
		if (!s->opt->arg)
			break;
		if (v > s->values.data)
			strbuf_puts(out, ", ");
		print_quoted(out, *v);
	}
	if (s->opt->arg && s->values.len > 1)
		strbuf_putc(out, '}');
	if (out->len - from < 40)
		strbuf_fill(out, ' ', 40 - (out->len - from));
	strbuf_printf(out, " # %s\n",
		      s->values.len ? origin_text(c, s->origin) : "not set");
}

void coll_config_print(const struct coll_config *c, struct strbuf *out)
{
	vec_for(&c->settings, s)
		if (strcmp(s->opt->name, "config") != 0)
			print_setting(c, s, out);
}
