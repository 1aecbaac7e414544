# SPDX-License-Identifier: GPL-2.0-or-later
PKGS_opfs := fuse3 libarchive nettle
$(call program,opfs,opfs,libspec libsym events base)
