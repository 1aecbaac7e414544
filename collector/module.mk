# SPDX-License-Identifier: GPL-2.0-or-later
PKGS_collector := libconfuse libsystemd
$(call program,opcollect,collector,libspec libcfi events base)
