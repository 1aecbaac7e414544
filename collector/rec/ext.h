/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_REC_EXT_H
#define COLLECTOR_REC_EXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "base/vec.h"

/*
 * Extended features: samples that carry more than an address.  A feature turns one such
 * sample into any number of derived events, each with sample files of its own.  One
 * feature at a time, chosen by --ext-feature=NAME:ARGS.
 */
enum { COLL_EXT_MAX_EVENTS = 64, COLL_EXT_MAX_REGS = 16 };

/* Which hardware wrote the registers. */
enum coll_ext_kind { COLL_EXT_IBS_FETCH, COLL_EXT_IBS_OP, COLL_NR_EXT };

/* The registers of a sample, as the hardware gave them. */
struct coll_ext_sample {
	enum coll_ext_kind kind;
	uint32_t caps;        /* what the hardware can; 0: unknown */
	size_t nr;            /* of @regs */
	const uint64_t *regs; /* borrowed */
};

/* A derived event that was chosen. */
struct coll_ext_event {
	const char *name; /* constant */
	uint32_t code;    /* as sample files' headers call it */
	uint64_t count, unit_mask;
};

/* How often a sample counts for a derived event. */
struct coll_ext_hit {
	uint32_t event;  /* index among the chosen ones */
	uint32_t weight; /* 1, or what was measured, as cycles */
};

enum coll_ext_result {
	COLL_EXT_TAKEN,      /* hits were made; none if no chosen event is true of it */
	COLL_EXT_INCOMPLETE, /* registers are missing */
	COLL_EXT_INVALID,    /* the hardware says its address is not to be trusted */
	COLL_EXT_UNASKED,    /* no event of its kind was chosen */
	COLL_NR_EXT_RESULT
};

/* What the source is to be told of one kind of hardware. */
struct coll_ext_setup {
	bool wanted;
	uint64_t count, unit_mask;
};

struct coll_ext;

struct coll_ext_feature {
	const char *name;
	/* Reads ARGS, which chooses events.  0 or -EINVAL. */
	int (*init)(struct coll_ext *x, const char *args, struct err *err);
	/* Whether a name is an event of the feature's. */
	bool (*knows)(const char *name);
	/* Chooses one more.  0 or -EINVAL. */
	int (*choose)(struct coll_ext *x, const char *name, uint64_t count,
		      uint64_t unit_mask, struct err *err);
	/* @hits: room for COLL_EXT_MAX_EVENTS. */
	enum coll_ext_result (*derive)(const struct coll_ext *x,
				       const struct coll_ext_sample *s,
				       struct coll_ext_hit *hits, size_t *nr);
};

struct coll_ext {
	const struct coll_ext_feature *feature; /* NULL: none */
	VEC(struct coll_ext_event) events;      /* in the order chosen */
	struct coll_ext_setup setup[COLL_NR_EXT];
	/* by row of the feature's table: 1 + index in @events; 0: not chosen */
	uint8_t chosen[COLL_EXT_MAX_EVENTS];
	uint64_t result[COLL_NR_EXT_RESULT]; /* how many samples ended so */
	uint64_t hits;
};

/* --ext-feature: "NAME:ARGS".  0 or -EINVAL. */
int coll_ext_parse(struct coll_ext *x, const char *arg, struct err *err);

/* Whether a word of -e, "NAME...", names an event of a feature. */
bool coll_ext_knows(const char *word);

/**
 * coll_ext_event - chooses the event of a word that coll_ext_knows()
 * "NAME:COUNT[:UNITMASK]", which chooses the feature as well.  0 or -EINVAL.
 */
int coll_ext_event(struct coll_ext *x, const char *word, struct err *err);

/* As the feature's derive(), and counted in @result and @hits. */
enum coll_ext_result coll_ext_derive(struct coll_ext *x, const struct coll_ext_sample *s,
				     struct coll_ext_hit *hits, size_t *nr);

/* "ibs: 10 samples, ...": what became of its samples; "" without a feature. */
void coll_ext_print_stats(const struct coll_ext *x, struct strbuf *out);

void coll_ext_fini(struct coll_ext *x);

#endif
