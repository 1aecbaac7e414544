# SPDX-License-Identifier: GPL-2.0-or-later
PKGS_base := libseccomp
LIBS_base := -pthread -lm
$(call library,base,$(call files,base,c))
