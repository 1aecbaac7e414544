# SPDX-License-Identifier: GPL-2.0-or-later
$(call library,libcfi,$(call files,libcfi,c))
