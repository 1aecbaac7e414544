# SPDX-License-Identifier: GPL-2.0-or-later
$(call library,events,$(wildcard events/*.c))
