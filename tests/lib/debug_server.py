#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A server of debug files that does wrong.

debug_server.py HOW [FILE]: answers each request as HOW says, prints its port, and then
every path that it is asked for, a line each.
"""

import http.server
import os
import sys
import threading
import time

HOW = sys.argv[1]
FILE = sys.argv[2] if len(sys.argv) > 2 else None


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        print(self.path, flush=True)
        try:
            getattr(self, HOW)()
        except OSError:  # who asked has gone
            pass

    def log_message(self, *args):
        pass

    def head(self, length=None):
        self.send_response(200)
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.end_headers()

    def status_404(self):
        self.send_error(404)

    def status_500(self):
        self.send_error(500)

    def file(self):
        with open(FILE, "rb") as f:
            data = f.read()
        self.head(len(data))
        self.wfile.write(data)

    def cut_short(self):
        with open(FILE, "rb") as f:
            data = f.read()
        self.head(len(data))
        self.wfile.write(data[: len(data) // 2])

    def in_halves(self):
        """The second half once there is FILE.rest."""
        with open(FILE, "rb") as f:
            data = f.read()
        self.head(len(data))
        self.wfile.write(data[: len(data) // 2])
        self.wfile.flush()
        while not os.path.exists(FILE + ".rest"):
            time.sleep(0.05)
        self.wfile.write(data[len(data) // 2 :])

    def text(self):
        self.head()
        self.wfile.write(b"<html>please log in</html>")

    def endless(self):
        self.head()
        while True:
            self.wfile.write(bytes(65536))

    def stalls(self):
        self.head(1 << 20)
        self.wfile.write(bytes(1000))
        self.wfile.flush()
        threading.Event().wait()


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print(server.server_port, flush=True)
server.serve_forever()
