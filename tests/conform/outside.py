"""Helpers for tests that look at the program from outside: run it, and judge what it said."""
import os
import signal
import subprocess
import sys
import tempfile
import traceback


class Failure(Exception):
    pass


class Skip(Exception):
    """What this machine lacks."""


def default_signals():
    """A test runner in the background may have handed down ignored signals."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


class Outside:
    """The program under test and a scratch folder; `check` methods raise Failure."""

    def __init__(self, fathom):
        self.fathom = os.path.abspath(fathom)
        self.folder = tempfile.TemporaryDirectory(prefix="fathom-test-")
        self.dir = self.folder.name
        # Another user may have to read and run here.
        os.chmod(self.dir, 0o755)

    def path(self, name):
        return os.path.join(self.dir, name)

    def env(self, **extra):
        env = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS", "LD_LIBRARY_PATH")}
        env.update({"TERM": "xterm", "LC_ALL": "C.UTF-8"})
        env.update(extra)
        return env

    def run(self, *args, timeout=120, cwd=None, env=None, **how):
        return subprocess.run([self.fathom, *args], cwd=cwd or self.dir, env=env or self.env(), timeout=timeout, check=False,
                              stdin=subprocess.DEVNULL, stdout=how.pop("stdout", subprocess.PIPE), stderr=subprocess.PIPE,
                              text=True, errors="replace", **how)

    def start(self, *args, cwd=None):
        return subprocess.Popen([self.fathom, *args], cwd=cwd or self.dir, env=self.env(), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                                preexec_fn=default_signals)


def expect(condition, what):
    if not condition:
        raise Failure(what)


def errors(result):
    """The lines of standard error that are the program's complaint; progress lines are none."""
    return [line for line in result.stderr.splitlines() if line.startswith("fathom: ")]


def refused(result, code, *parts):
    """The right exit code, exactly one sentence, and the words in it that matter."""
    said = errors(result)
    expect(result.returncode == code, f"exit code {result.returncode}, not {code}; said: {result.stderr.strip()!r}")
    expect(len(said) == 1, f"{len(said)} complaints, not one: {result.stderr!r}")
    for part in parts:
        expect(part in said[0], f"{part!r} is missing in: {said[0]!r}")
    expect("\x1b" not in result.stderr, f"an escape sequence in: {result.stderr!r}")


def accepted(result):
    expect(result.returncode == 0, f"exit code {result.returncode}: {result.stderr.strip()!r}")
    expect(not errors(result), f"complained: {result.stderr!r}")


def run_tests(outside, tests):
    """Each test is a function of the Outside. A test that returns a text was skipped for that reason."""
    failed = 0
    for test in tests:
        name = test.__name__.removeprefix("test_").replace("_", " ")
        try:
            reason = test(outside)
            print(f"ok      {name}" if not reason else f"skipped {name}: {reason}")
        except Skip as why:
            print(f"skipped {name}: {why}")
        except Failure as why:
            failed += 1
            print(f"FAILED  {name}: {why}")
        except Exception:  # a broken test is a failed one, with its trace
            failed += 1
            print(f"FAILED  {name}:\n{traceback.format_exc()}")
        sys.stdout.flush()
    print(f"{len(tests) - failed} of {len(tests)} fine")
    return 1 if failed else 0
