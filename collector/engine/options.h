/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_ENGINE_OPTIONS_H
#define COLLECTOR_ENGINE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ids.h"
#include "base/opt.h"
#include "base/vec.h"
#include "collector/engine/callgraph.h"
#include "collector/rec/ext.h"
#include "collector/source/perf_open.h"
#include "collector/source/source.h"
#include "collector/store/symbols.h"

enum { COLL_DEFAULT_HZ = 997 };

/* What to do with words of --image. */
enum coll_lookup {
	COLL_LOOK_UP_AND_TELL, /* find real paths, and say what is not there */
	COLL_LOOK_UP,
	/* nothing: they are what somebody else found, with his rights.  We must not tell
	 * him which files there are that only we may see. */
	COLL_LOOKED_UP,
};

/* What "opcollect record" was asked to do. */
struct coll_options {
	VEC(struct coll_event) events; /* in the order given */
	VEC(char *) images;            /* --image: real paths and module names; heap */
	enum coll_lookup lookup;       /* of further words of --image */
	struct ids pids;
	uint64_t rate_hz;    /* -F; 0: not given */
	bool rate_max;       /* -F max */
	uint64_t default_hz; /* without; 0: COLL_DEFAULT_HZ */
	uint32_t max_files;  /* --max-files; 0: any number */
	unsigned separate;   /* enum coll_separate */
	size_t pages;        /* of a CPU's ring */
	unsigned realtime;   /* --realtime; 0: none */
	struct coll_callgraph callgraph;
	size_t stack_limit; /* --stack-limit; 0: not given */
	const char *session_dir, *vmlinux;
	const char *session;         /* --session; NULL: "current" */
	struct coll_symbols symbols; /* --symbols */
	char **command;              /* NULL: none */
	bool all, append, no_vmlinux;
	const struct coll_source_kind *source;
	const char *save; /* where the driver's stream is saved as well; NULL: nowhere */
	struct coll_ext ext; /* --ext-feature */
	VEC(char *) derived; /* words of -e that an extended feature may know; heap */
	/* of "opcollect replay" */
	const char *replay, *kallsyms, *modules;
};

/**
 * coll_options_parse - reads the words of "opcollect record"
 * @argv: borrowed by @out as long as that is used
 * Returns OPT_RUN, OPT_DONE or OPT_WRONG, having said what is wrong.
 */
enum opt_result coll_options_parse(int argc, char **argv, struct coll_options *out);
/* The same of "opcollect replay". */
enum opt_result coll_options_parse_replay(int argc, char **argv,
					  struct coll_options *out);
/**
 * coll_options_derive - takes words of -e that may be an extended feature's
 * To be called when the source is known; again does nothing.  0, -EINVAL, -ENOMEM.
 */
int coll_options_derive(struct coll_options *o, struct err *err);
void coll_options_fini(struct coll_options *o);

/* Samples a second and CPU of events without a count. */
uint64_t coll_options_hz(const struct coll_options *o);
/* What is sampled without -e: "cycles" where the processor counts them, else "TIMER". */
const char *coll_default_event(void);
/**
 * coll_event_word - an event specification, with a name for "default"
 * @by_default: the name that takes the place of "default"; NULL: coll_default_event()
 * @room: where the text is then
 * Returns @room, or @word itself if it is no "default" or too long for one.
 */
enum { COLL_EVENT_WORD = 256 };
const char *coll_event_word(const char *word, const char *by_default,
			    char room[COLL_EVENT_WORD]);

/* Setters of struct opt rows; @ctx begins with a struct coll_options. */
int coll_set_event(void *ctx, const char *arg, struct err *err);
int coll_set_rate(void *ctx, const char *arg, struct err *err);
int coll_set_separate(void *ctx, const char *arg, struct err *err);
int coll_set_max_files(void *ctx, const char *arg, struct err *err);
int coll_set_callgraph(void *ctx, const char *arg, struct err *err);
int coll_set_image(void *ctx, const char *arg, struct err *err);
int coll_set_symbols(void *ctx, const char *arg, struct err *err);
int coll_set_session_dir(void *ctx, const char *arg, struct err *err);
int coll_set_vmlinux(void *ctx, const char *arg, struct err *err);
int coll_set_no_vmlinux(void *ctx, const char *arg, struct err *err);
int coll_set_stack_limit(void *ctx, const char *arg, struct err *err);
int coll_set_source(void *ctx, const char *arg, struct err *err);
int coll_set_feature(void *ctx, const char *arg, struct err *err);
int coll_set_pages(void *ctx, const char *arg, struct err *err);
int coll_set_realtime(void *ctx, const char *arg, struct err *err);

/* Names that other profilers have for options of ours. */
extern const struct opt_alias coll_option_aliases[];

/* A row: what names may take that are kept for when binaries are gone. */
#define COLL_OPT_SYMBOLS                                                                 \
	{                                                                                \
		0, "symbols", "SIZE",                                                    \
			"keep names for when binaries are gone, in up to SIZE (1G; 0: "  \
			"none)",                                                         \
			coll_set_symbols                                                 \
	}

#endif
