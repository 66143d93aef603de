#!/usr/bin/env python3
"""Lines and branches that tests of a build with -Db_coverage=true have run, by room; with --open also each line of a room that none has.

Usage: coverage.py BUILD [--open ROOM]
"""
import collections
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def room(path):
    parts = path.split(os.sep)
    return "probes" if parts[0] == "probes" else os.sep.join(parts[1:-1]) or "main"


def records(build):
    """What gcov says of each object whose tests have run, many objects at a time."""
    data = [os.path.join(folder, name) for top in ("src", "probes", "fathom.p") for folder, _, names in os.walk(os.path.join(build, top))
            for name in names if name.endswith(".gcda")]
    for at in range(0, len(data), 50):
        told = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities"] + data[at:at + 50], cwd=build, check=True,
                              capture_output=True, text=True).stdout
        for line in told.splitlines():
            yield from json.loads(line)["files"]


def main():
    build = os.path.abspath(sys.argv[1])
    lines, branches = collections.defaultdict(int), collections.defaultdict(int)
    for record in records(build):
        path = os.path.relpath(os.path.realpath(os.path.join(build, record["file"])), ROOT)
        if path.startswith("..") or not path.endswith(".c"):
            continue
        for line in record["lines"]:
            lines[path, line["line_number"]] = max(lines[path, line["line_number"]], line["count"])
            for number, branch in enumerate(line["branches"]):
                key = path, line["line_number"], number
                branches[key] = max(branches[key], branch["count"])
    rooms = sorted({room(key[0]) for key in lines})
    for name in rooms + [None]:
        shares = []
        for table in (lines, branches):
            of = [count for key, count in table.items() if name is None or room(key[0]) == name]
            shares.append(f"{100 * sum(count > 0 for count in of) / max(1, len(of)):5.1f} % of {len(of):6}")
        print(f"{name or 'all':16} lines {shares[0]}   branches {shares[1]}")
    if sys.argv[2:3] == ["--open"]:
        for path, number in sorted(key for key, count in lines.items() if not count and room(key[0]) == sys.argv[3]):
            with open(os.path.join(ROOT, path), encoding="utf-8") as f:
                print(f"{path}:{number}: {f.readlines()[number - 1].strip()}")
    return 0 if lines else 1


sys.exit(main())
