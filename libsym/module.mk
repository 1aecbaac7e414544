# SPDX-License-Identifier: GPL-2.0-or-later
PKGS_libsym := libdw libelf liblzma libzstd
LIBS_libsym := -liberty -lopcodes -lbfd
$(call library,libsym,$(call files,libsym,c))
