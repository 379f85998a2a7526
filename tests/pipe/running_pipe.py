"""`pawl pipe` as a test runs it, and what has to hold of it: every message is a document or a record of errors, and Kafka's
committed offset never passes one that is neither."""

import ctypes
import datetime
import json
import pathlib
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "components"))


def end_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def wait_for(what, holds, seconds=40, every=0.1):
    """What `holds` returns once it is true; a message that names what was waited for when it does not become so."""
    end = time.monotonic() + seconds
    while True:
        held = holds()
        if held:
            return held
        if time.monotonic() > end:
            raise AssertionError(f"waited {seconds} s for {what() if callable(what) else what}")
        time.sleep(every)


def machine_text(*changes):
    """The machine that is built in, without its scenarios, and with texts replaced that have to be there."""
    text = (ROOT / "machines" / "qanal.yaml").read_text().split("\nscenarios:")[0] + "\n"
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


def delays(first, most):
    return ("retry: {first: 300ms, factor: 2, max: 90s, jitter: ±50%}", f"retry: {{first: {first}, factor: 2, max: {most}}}")


class RunningPipe:
    """One process with the pipes of some files; its log is read as JSON."""

    def __init__(self, program, log, *files):
        self.log = pathlib.Path(log)
        with open(self.log, "ab") as out:
            self.process = subprocess.Popen([program, "pipe", "--json", *map(str, files)], stdin=subprocess.DEVNULL, stdout=out,
                                            stderr=out, preexec_fn=end_with_parent)

    def events(self, event=None, **fields):
        """Lines of the log, each with the time it was written in seconds as `time`."""
        found = []
        for line in self.log.read_text(errors="replace").splitlines():
            if not line.startswith("{"):
                continue
            try:
                said = json.loads(line)
            except ValueError:
                continue  # it is just being written
            if event in (None, said["event"]) and all(said.get(name) == value for name, value in fields.items()):
                found.append(dict(said, time=seconds_of(said["at"])))
        return found

    def runs(self):
        return self.process.poll() is None

    def stop(self, seconds=60):
        """The exit code after SIGTERM."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"the pipe did not end in {seconds} s after SIGTERM") from None

    def kill(self):
        self.process.kill()
        self.process.wait()

    def rss_mb(self):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        return 0

    def said(self):
        return self.log.read_text(errors="replace")[-6000:]


def seconds_of(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def is_settled(kafka, group, topic):
    """Whether everything is committed."""
    high = {partition: marks[1] for partition, marks in kafka.watermarks(topic).items()}
    committed = kafka.committed(group, topic)
    return all((committed[partition] or 0) == end for partition, end in high.items())
