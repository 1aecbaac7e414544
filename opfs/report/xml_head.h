/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORT_XML_HEAD_H
#define OPFS_REPORT_XML_HEAD_H

#include "opfs/report/report.h"

/* The part of report.xml before its binaries. */

struct xml_classes {
	const struct profile *p;
	bool told;        /* there is an element classes: counts say of which they are */
	uint32_t *events; /* of each class, the number of what was counted */
	uint32_t nr_events;
};

/* 0 or -ENOMEM. */
int xml_classes_init(struct xml_classes *k, const struct profile *p);
void xml_classes_fini(struct xml_classes *k);

/* Writes everything from the first line to the end of the element classes. */
void xml_head_write(const struct report_job *job, const struct xml_classes *k,
		    struct strbuf *out);

#endif
