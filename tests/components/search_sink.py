"""search_sink as a test starts it."""

import ctypes
import json
import signal
import subprocess

from http_node import HttpNode


def end_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class SearchSink(HttpNode):
    def __init__(self, program, *options, port=0):
        self.process = subprocess.Popen([program, str(port), *options], stdout=subprocess.PIPE, text=True,
                                        preexec_fn=end_with_parent)
        super().__init__(int(self.process.stdout.readline().split()[-1]))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def script(self, *faults):
        """These faults, and no others, are to come."""
        self.json("POST", "/_script", list(faults))

    def documents(self, index=""):
        """By (index, id)."""
        status, _, lines = self.ask("GET", f"/_docs?index={index}")
        assert status == 200
        return {(line["index"], line["id"]): line for line in map(json.loads, lines.splitlines())}

    def stats(self):
        return self.json("GET", "/_stats")

    def reset(self):
        self.json("POST", "/_reset")
