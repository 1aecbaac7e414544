/* SPDX-License-Identifier: GPL-2.0-or-later */
/* twin_lib: the twins as libraries, for dlopen. */
#include "twin.h"
