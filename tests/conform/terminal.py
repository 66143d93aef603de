#!/usr/bin/env python3
"""Colour and redrawn lines only where a terminal wants them.

Usage: terminal.py FATHOM
"""
import os
import pty
import subprocess
import sys

from outside import Outside, Skip, accepted, expect, run_tests

ESCAPE = "\x1b"


def on_terminal(o, args, **env):
    """Everything that the program writes to a terminal, and its exit code."""
    try:
        lead, follow = pty.openpty()
    except OSError as why:
        raise Skip(f"no terminal can be made here: {why}") from None
    process = subprocess.Popen([o.fathom, *args], cwd=o.dir, env=o.env(**env), stdin=follow, stdout=follow, stderr=follow,
                               close_fds=True)
    os.close(follow)
    said = b""
    while True:
        try:
            piece = os.read(lead, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        said += piece
    os.close(lead)
    return process.wait(timeout=60), said.decode("utf-8", "replace")


def run_args(o, name):
    return ["run", "-d", "sim:toy", "-p", "clock", "-o", o.path(name)]


def test_pipe_is_plain(o):
    result = o.run(*run_args(o, "pipe.fathom"))
    accepted(result)
    report = o.run("report", o.path("pipe.fathom"))
    accepted(report)
    for text in (result.stdout, result.stderr, report.stdout):
        expect(ESCAPE not in text and "\r" not in text, f"control sequences in {text!r}")
        expect(text.isascii(), f"not plain: {[c for c in text if not c.isascii()][:5]}")


def test_terminal_has_a_live_line(o):
    code, said = on_terminal(o, run_args(o, "live.fathom"))
    expect(code == 0, f"exit code {code}: {said!r}")
    expect("\r\x1b[K" in said, f"no redrawn line in {said!r}")
    expect("clock: done" in said, f"the probe's end is not said: {said!r}")


def colours(text):
    return "\x1b[" in text.replace("\x1b[K", "")


def test_terminal_has_colour(o):
    accepted(o.run(*run_args(o, "colour.fathom")))
    code, said = on_terminal(o, ["report", o.path("colour.fathom")])
    expect(code == 0 and colours(said), "a terminal gets no colour")


def test_no_color(o):
    code, said = on_terminal(o, ["report", o.path("colour.fathom")], NO_COLOR="1")
    expect(code == 0 and not colours(said), "NO_COLOR is not heard")


def test_dumb_terminal(o):
    code, said = on_terminal(o, run_args(o, "dumb.fathom"), TERM="dumb")
    expect(code == 0 and ESCAPE not in said, f"a dumb terminal got {said!r}")


def test_width(o):
    for columns in ("60", "100"):
        result = o.run("report", o.path("colour.fathom"), env=o.env(COLUMNS=columns))
        accepted(result)
        wide = [line for line in result.stdout.splitlines() if len(line) > int(columns)]
        expect(not wide, f"wider than {columns} columns: {wide[:2]}")


def main():
    tests = [value for name, value in globals().items() if name.startswith("test_")]
    return run_tests(Outside(sys.argv[1]), tests)


if __name__ == "__main__":
    sys.exit(main())
