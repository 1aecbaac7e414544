/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_SESSION_CATALOG_NAMES_H
#define OPFS_SESSION_CATALOG_NAMES_H

#include "opfs/session/catalog.h"

/**
 * catalog_names - by what names the images of a catalog are found
 * @c: with all of its images, but for their listed names, and no names yet
 * Sets catalog_image.listed, catalog.names and catalog.by_image.  0 or -ENOMEM.
 */
int catalog_names(struct catalog *c);

#endif
