/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "opfs/tree_impl.h"

/* Files of the root, and "events", a directory. */
static const char *const root_files[] = { "README", "status" };
static const char *const reserved[] = { "README", "status", "events" };

bool tree_is_reserved(const char *name)
{
	for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++)
		if (!strcmp(name, reserved[i]))
			return true;
	return false;
}

void tree_listed_session(const char *name, struct strbuf *out)
{
	if (tree_is_reserved(name)) {
		strbuf_printf(out, "%%%02X", (unsigned char)*name);
		name++;
	}
	spec_listed(name, false, name, out);
}

/* ---- who may see what */

static bool mode_allows(const struct stat *st, const struct viewer *v, mode_t want)
{
	bool in_group = st->st_gid == v->gid;

	for (size_t i = 0; i < v->nr_groups; i++)
		in_group |= v->groups[i] == st->st_gid;
	if (st->st_uid == v->uid)
		want <<= 6;
	else if (in_group)
		want <<= 3;
	return (st->st_mode & want) == want;
}

bool tree_may_see(const struct tree *t, const char *session, const struct viewer *v)
{
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	int fd = catalog_store_fd(t->store);
	struct stat st;

	if (!t->o.shared || !v || v->uid == 0 || v->uid == t->o.owner)
		return true;
	if (fstat(fd, &st) || !mode_allows(&st, v, S_IXOTH))
		return false;
	if (fstatat(fd, "samples", &st, 0))
		return errno == ENOENT;
	if (!mode_allows(&st, v, S_IXOTH))
		return false;
	strbuf_printf(&path, "samples/%s", session);
	if (strbuf_error(&path))
		return false;
	if (fstatat(fd, path.data, &st, 0))
		return errno == ENOENT;
	return mode_allows(&st, v, S_IROTH | S_IXOTH);
}

/*
 * Does samples/SESSION, at @path, stand for the directory @st?  A link leads where only
 * the mount may go, past directories that stop its users: its owner must be the mount's,
 * root or the session's.
 */
static bool stands_for(const struct tree *t, const char *path, const struct stat *st)
{
	struct stat link;

	if (fstatat(catalog_store_fd(t->store), path, &link, AT_SYMLINK_NOFOLLOW))
		return false;
	if (S_ISLNK(link.st_mode))
		return !link.st_uid || link.st_uid == t->o.owner ||
		       link.st_uid == st->st_uid;
	return link.st_dev == st->st_dev && link.st_ino == st->st_ino;
}

/* tree_may_see() of what was really opened. */
static bool may_see_opened(const struct tree *t, const struct catalog_dir *d,
			   const struct viewer *v)
{
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	struct stat st;

	if (!t->o.shared || !v || v->uid == 0 || v->uid == t->o.owner || d->fd < 0)
		return true;
	strbuf_printf(&path, "samples/%s", d->session);
	return !strbuf_error(&path) && !fstat(d->fd, &st) &&
	       mode_allows(&st, v, S_IROTH | S_IXOTH) && stands_for(t, path.data, &st);
}

/* Takes from *mode the rights of those who may not search the directory @dir above. */
static void mask_mode(const struct stat *dir, gid_t gid, mode_t *mode)
{
	mode_t group = dir->st_gid == gid ? S_IXGRP : S_IXOTH;

	if (!(dir->st_mode & S_IXOTH))
		*mode &= ~(mode_t)S_IRWXO;
	if (!(dir->st_mode & group))
		*mode &= ~(mode_t)S_IRWXG;
}

/* As the kernel would decide on the way to samples/SESSION, in one mode. */
static int session_mode(const struct tree *t, const char *session, struct stat *st)
{
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	int fd = catalog_store_fd(t->store);
	struct stat top, samples;

	strbuf_printf(&path, "samples/%s", session);
	if (strbuf_error(&path))
		return -ENOMEM;
	if (fstat(fd, &top) || fstatat(fd, "samples", &samples, 0) ||
	    fstatat(fd, path.data, st, 0))
		return -errno;
	mask_mode(&top, st->st_gid, &st->st_mode);
	mask_mode(&samples, st->st_gid, &st->st_mode);
	if (!stands_for(t, path.data, st))
		st->st_mode &= ~(mode_t)(S_IRWXG | S_IRWXO);
	return 0;
}

/* The mode of several sessions: a sum allows what all of them allow; of several owners,
 * the mount's. */
struct sum_mode {
	bool any;
	mode_t mode;
	uid_t uid;
	gid_t gid;
};

static void add_modes(const struct tree *t, const struct spec *spec, struct sum_mode *sum)
{
	struct stat st;

	for (size_t i = 0; spec && i < spec->nr_sessions; i++) {
		if (session_mode(t, spec->sessions[i], &st))
			continue; /* "current" that is not there yet */
		sum->mode = sum->any ? sum->mode & st.st_mode : st.st_mode & 0777;
		if (sum->any && sum->uid != st.st_uid)
			st.st_uid = t->o.owner;
		if (sum->any && sum->gid != st.st_gid)
			sum->mode &= ~(mode_t)S_IRWXG | (sum->mode & S_IRWXO) << 3;
		sum->uid = st.st_uid;
		sum->gid = st.st_gid;
		sum->any = true;
	}
}

/* Does it name paths of this machine, which are for the one who mounted? */
static bool names_paths(const struct place *p)
{
	for (size_t i = 0; p->spec && i < SPEC_NR_TAGS; i++)
		if (p->spec->values[i] && spec_tags[i].kind == SPEC_TAG_PATHS)
			return true;
	return p->base && p->base->dir;
}

int tree_mode(struct tree *t, const struct place *p, mode_t *mode, uid_t *uid, gid_t *gid)
{
	struct sum_mode sum = { 0 };
	struct stat st;

	if (fstat(catalog_store_fd(t->store), &st))
		return -errno;
	sum.mode = st.st_mode & 0777;
	sum.uid = st.st_uid;
	sum.gid = st.st_gid;
	add_modes(t, p->spec, &sum);
	if (p->base && !p->base->dir)
		add_modes(t, p->base->p.spec, &sum);
	if (names_paths(p)) {
		sum.mode &= S_IRWXU;
		sum.uid = t->o.owner;
	}
	*mode = sum.mode;
	*uid = sum.uid;
	*gid = sum.gid;
	return 0;
}

/* ---- sessions */

static bool exists(const struct tree *t, const char *session)
{
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	struct stat st;

	if (strchr(session, '/') || !strcmp(session, ".") || !strcmp(session, "..") ||
	    !*session)
		return false;
	if (!strcmp(session, "current"))
		return true;
	strbuf_printf(&path, "samples/%s", session);
	return !strbuf_error(&path) &&
	       !fstatat(catalog_store_fd(t->store), path.data, &st, 0) &&
	       S_ISDIR(st.st_mode);
}

static int not_yours(const struct ask *a, const char *session)
{
	return err_set(a->err, -EACCES,
		       "session %.100s: its directory does not allow you to read it (its "
		       "owner can: chmod o+rx)",
		       session);
}

/* Of the tree's session directory, what the viewer may see of it. */
static int load(const struct ask *a, const struct spec *spec, struct catalog **cat)
{
	int rc;

	for (size_t i = 0; i < spec->nr_sessions; i++)
		if (!tree_may_see(a->t, spec->sessions[i], a->v))
			return not_yours(a, spec->sessions[i]);
	rc = tree_catalog(a, NULL, spec, cat);
	for (size_t i = 0; !rc && i < (*cat)->nr_dirs; i++)
		if (!may_see_opened(a->t, &(*cat)->dirs[i], a->v))
			rc = not_yours(a, spec->sessions[i]);
	return rc;
}

static void put_catalog(struct catalog **c)
{
	catalog_put(*c);
}

int tree_enter_in(const struct ask *a, const char *dir, const struct spec *spec,
		  struct place *to)
{
	CLEANUP(spec_putp) struct spec *copy = spec_with(spec, NULL, NULL);
	CLEANUP(selection_putp) struct selection *sel = NULL;
	CLEANUP(put_catalog) struct catalog *cat = NULL;
	bool narrowed = false;
	int rc;

	if (!copy)
		return err_set(a->err, -ENOMEM, "out of memory");
	rc = dir ? tree_catalog(a, dir, spec, &cat) : load(a, spec, &cat);
	rc = rc ? rc : tree_select(a, cat, copy, NULL, &sel);
	if (rc)
		return rc;
	for (size_t i = 0; i < SPEC_NR_TAGS; i++)
		narrowed |= spec->values[i] && tree_selects(&spec_tags[i]);
	if (narrowed && !sel->nr)
		return err_set(a->err, -ENOENT, "selects nothing any more");
	return tree_place_init(to, PLACE_PROFILE, cat, copy, sel, NULL, NULL, a->err);
}

int tree_enter_sessions(const struct ask *a, char *const *names, size_t nr, bool listed,
			struct place *to)
{
	CLEANUP(spec_putp) struct spec *spec = spec_new(names, nr);
	int rc = spec ? tree_enter_in(a, NULL, spec, to)
		      : err_set(a->err, -ENOMEM, "out of memory");

	if (!rc)
		to->listed = listed;
	return rc;
}

static int no_session(const struct ask *a, const char *typed)
{
	CLEANUP(names_fini) struct names all = { 0 };
	CLEANUP(strbuf_fini) struct strbuf list = { 0 };

	if (!tree_sessions(a->t, a->v, &all, NULL))
		tree_suggest(&all, typed, &list);
	return err_set(a->err, -ENOENT, "no session \"%.100s\" in %.100s; there are: %s",
		       typed, catalog_store_path(a->t->store), strbuf_str(&list));
}

/* The sessions that an item of a list means, to the end of @out. */
static int add_matching(const struct ask *a, const struct names *all,
			const struct spec_item *item, struct names *out)
{
	size_t before = out->len;
	int rc = 0;

	if (!item->all && exists(a->t, item->text))
		return names_add(out, item->text);
	for (size_t i = 0; i < all->len && !rc; i++)
		if (item->all || (item->glob && spec_glob(item->pattern, all->data[i])))
			rc = names_add(out, all->data[i]);
	if (!rc && out->len == before)
		return no_session(a, item->text);
	return rc;
}

/* The name of a session as typed or as listed; NULL: there is none. */
static char *one_session(const struct tree *t, const char *raw, const struct viewer *v)
{
	CLEANUP(names_fini) struct names all = { 0 };
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	if (exists(t, raw) && !strchr(raw, '%'))
		return strdup(raw);
	spec_decode(raw, &text);
	if (!strbuf_error(&text) && strlen(strbuf_str(&text)) == text.len &&
	    exists(t, strbuf_str(&text)))
		return strbuf_take(&text);
	if (!spec_listed_cut(raw) || tree_sessions(t, v, &all, NULL))
		return NULL;
	for (size_t i = 0; i < all.len; i++) {
		strbuf_reset(&text);
		tree_listed_session(all.data[i], &text);
		if (!strcmp(strbuf_str(&text), raw))
			return strdup(all.data[i]);
	}
	return NULL;
}

int tree_session_list(const struct ask *a, const char *raw, struct names *out)
{
	CLEANUP(spec_items_fini) struct spec_items items = { 0 };
	CLEANUP(free_ptr) char *one = one_session(a->t, raw, a->v);
	CLEANUP(names_fini) struct names all = { 0 };
	struct spec_word word;
	int rc;

	if (one)
		return names_add(out, one);
	if (spec_word_parse(raw, strlen(raw), &word) && word.value &&
	    word.tag->kind == SPEC_TAG_SPAN)
		return tree_span_list(a, word.tag, word.value, out);
	rc = spec_items_parse(raw, &items, a->err);
	rc = rc ? rc : tree_sessions(a->t, a->v, &all, a->err);
	for (size_t i = 0; i < items.nr && !rc; i++)
		rc = add_matching(a, &all, &items.items[i], out);
	names_sort(out);
	return !rc && !out->len ? no_session(a, raw) : rc;
}

int tree_session_value(const struct ask *a, const char *raw, struct place *to)
{
	CLEANUP(names_fini) struct names list = { 0 };
	int rc = tree_session_list(a, raw, &list);

	return rc ? rc : tree_enter_sessions(a, list.data, list.len, false, to);
}

static bool is_in(const struct names *n, const char *name)
{
	for (size_t i = 0; i < n->len; i++)
		if (!strcmp(n->data[i], name))
			return true;
	return false;
}

int tree_session_exclude(const struct ask *a, const struct place *from, const char *raw,
			 struct place *to)
{
	const struct spec_tag *tag = &spec_tags[SPEC_SESSION_EXCLUDE];
	CLEANUP(spec_value_putp) struct spec_value *value = NULL;
	CLEANUP(names_fini) struct names out = { 0 }, kept = { 0 };
	CLEANUP(spec_putp) struct spec *all = NULL;
	CLEANUP(spec_putp) struct spec *less = NULL;
	int rc = tree_session_list(a, raw, &out);

	for (size_t i = 0; i < from->spec->nr_sessions && !rc; i++)
		if (!is_in(&out, from->spec->sessions[i]))
			rc = names_add(&kept, from->spec->sessions[i]);
	if (!rc && !kept.len)
		rc = err_set(a->err, -ENOENT, "session-exclude:%.100s leaves no session",
			     raw);
	rc = rc ? rc : spec_value_new(tag, raw, false, &value, a->err);
	if (rc)
		return rc;
	all = spec_with(from->spec, tag, value);
	less = all ? spec_with_sessions(all, kept.data, kept.len) : NULL;
	if (!less)
		return err_set(a->err, -ENOMEM, "out of memory");
	return spec_span_tag(less) ? tree_span_enter(a, less, to)
				   : tree_enter_in(a, NULL, less, to);
}

/* ---- components */

static int enter_one(const struct ask *a, const char *session, const char *typed,
		     struct place *to)
{
	CLEANUP(strbuf_fini) struct strbuf listed = { 0 };
	char *names[] = { (char *)session };

	tree_listed_session(session, &listed);
	return tree_enter_sessions(a, names, 1, !strcmp(strbuf_str(&listed), typed), to);
}

/* A tag without a session means "current". */
static int step_tag(const struct ask *a, const char *name, const struct spec_word *word,
		    struct place *to)
{
	char *names[] = { (char *)"current" };
	struct place current;
	int rc;

	if (word->tag->id == SPEC_SESSION && word->value)
		return tree_session_value(a, word->value, to);
	if (word->tag->kind == SPEC_TAG_SPAN && word->value)
		return tree_span_value(a, word->tag, word->value, to);
	rc = tree_enter_sessions(a, names, 1, false, &current);
	if (rc)
		return rc;
	if (word->tag->id == SPEC_SESSION || word->tag->kind == SPEC_TAG_SPAN)
		rc = tree_place_init(to, PLACE_VALUES, current.cat, current.spec,
				     current.sel, word->tag, NULL, a->err);
	else
		rc = tree_step_below(a, &current, name, to);
	place_fini(&current);
	return rc;
}

int tree_step_root(const struct ask *a, const char *name, struct place *to)
{
	CLEANUP(free_ptr) char *session = NULL;
	struct spec_word word;

	for (size_t i = 0; i < sizeof(root_files) / sizeof(root_files[0]); i++) {
		if (strcmp(name, root_files[i]) != 0)
			continue;
		*to = (struct place){ .kind = PLACE_FILE, .root_name = root_files[i] };
		return 0;
	}
	if (!strcmp(name, "events"))
		return tree_enter_events(a, to);
	session = one_session(a->t, name, a->v);
	if (session)
		return enter_one(a, session, name, to);
	if (spec_word_parse(name, strlen(name), &word))
		return step_tag(a, name, &word, to);
	return no_session(a, name);
}
