# SPDX-License-Identifier: GPL-2.0-or-later
PKGS_libspec := nettle
$(call library,libspec,$(call files,libspec,c))
