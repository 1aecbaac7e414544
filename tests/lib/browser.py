# SPDX-License-Identifier: GPL-2.0-or-later
"""A browser without a window, told what to do by the DevTools protocol over two pipes.

    with Browser() as b:
        b.open("/tmp/x.svg")
        b.click(10, 20)
        b.wait_for("document.querySelector('#found').textContent")

What the page's scripts throw is an AssertionError at the end.
"""

import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile

PATIENCE_S = 200  # for what hangs
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
         "--no-first-run", "--disable-extensions", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--hide-scrollbars",
         "--window-size=1280,900", "--remote-debugging-pipe"]

# key: code, number of the key, text
KEYS = {
    "Tab": ("Tab", 9, ""), "Enter": ("Enter", 13, "\r"), "Escape": ("Escape", 27, ""),
    "Home": ("Home", 36, ""), "ArrowLeft": ("ArrowLeft", 37, ""),
    "ArrowUp": ("ArrowUp", 38, ""), "ArrowRight": ("ArrowRight", 39, ""),
    "ArrowDown": ("ArrowDown", 40, ""), "/": ("Slash", 191, "/"), "f": ("KeyF", 70, "f"),
}
CTRL = 2


def high_pipe():
    """Both ends are above the numbers that the browser wants for its own."""
    ends = []
    for fd in os.pipe():
        ends.append(fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10))
        os.close(fd)
    return ends


class Browser:
    def __enter__(self):
        self.home = tempfile.mkdtemp(prefix="opfs-browser.")
        ours, theirs = high_pipe()[::-1], high_pipe()

        def pipes_are_3_and_4():
            os.dup2(ours[1], 3)
            os.dup2(theirs[1], 4)

        env = dict(os.environ, HOME=self.home, XDG_CONFIG_HOME=self.home,
                   XDG_CACHE_HOME=self.home)
        self.log = open(os.path.join(self.home, "log"), "w+b")
        self.process = subprocess.Popen(
            ["chromium", *FLAGS, "--user-data-dir=" + self.home + "/profile",
             "about:blank"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, env=env,
            preexec_fn=pipes_are_3_and_4, close_fds=False, start_new_session=True)
        self.to, self.back = ours[0], theirs[0]
        os.close(ours[1])
        os.close(theirs[1])
        self.buffer, self.events, self.last, self.session = b"", [], 0, None
        self.thrown = []
        return self

    def __exit__(self, kind, value, trace):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        self.log.seek(0)
        if kind:
            print(*[line for line in self.log.read().decode(errors="replace").splitlines()
                    if "dbus" not in line][-20:], sep="\n")
        self.log.close()
        shutil.rmtree(self.home, ignore_errors=True)
        assert kind or not self.thrown, self.thrown

    # ---- the protocol

    def receive(self):
        while b"\0" not in self.buffer:
            assert select.select([self.back], [], [], PATIENCE_S)[0], "no answer"
            more = os.read(self.back, 1 << 16)
            assert more, "the browser has ended"
            self.buffer += more
        text, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(text)
        if message.get("method") == "Runtime.exceptionThrown":
            self.thrown.append(message["params"]["exceptionDetails"])
        return message

    def call(self, method, **params):
        self.last += 1
        message = {"id": self.last, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.last:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            self.events.append(answer.get("method"))

    def wait_event(self, name):
        while name not in self.events:
            self.events.append(self.receive().get("method"))

    # ---- pages

    def open(self, url, scripts=True, dark=False):
        """Opens it in a page of its own, and waits until it is loaded."""
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        self.call("Page.enable")
        self.call("Runtime.enable")
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.load("Page.navigate", url="file://" + os.path.abspath(url))

    def load(self, method, **params):
        """Page.navigate or Page.reload"""
        self.events = []
        self.call(method, **params)
        self.wait_event("Page.loadEventFired")

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait_for(self, expression):
        """Until it is true, which is looked at before each frame that is painted."""
        answer = self.call("Runtime.evaluate", awaitPromise=True, returnByValue=True,
                           expression="""new Promise(done => {
            const look = () => (%s) ? done(true) : requestAnimationFrame(look);
            look();
        })""" % expression)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]

    def click(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        for kind in "mousePressed", "mouseReleased":
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left",
                      clickCount=1)

    def key(self, key, modifiers=0):
        code, number, text = KEYS[key]
        same = dict(key=key, code=code, windowsVirtualKeyCode=number,
                    modifiers=modifiers)
        if text and not modifiers:
            same["text"] = text
        self.call("Input.dispatchKeyEvent", type="keyDown", **same)
        same.pop("text", None)
        self.call("Input.dispatchKeyEvent", type="keyUp", **same)

    def type(self, text):
        self.call("Input.insertText", text=text)
