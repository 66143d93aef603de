#!/usr/bin/env python3
"""Asks a paper whole and holds what comes out to it: no value may differ, and so many have to agree.

Usage: check_paper.py FATHOM PAPER PART LEAST MOST

PART is a simulated GPU of the paper. LEAST values agree, at most MOST are explained by a deviation.
"""
import json
import os
import subprocess
import sys
import tempfile


def main():
    fathom, paper, part, least, most = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
    with tempfile.TemporaryDirectory() as here:
        run = os.path.join(here, "run.fathom")
        done = subprocess.run([fathom, "reproduce", paper, "--part", part, "--threads", "1", "--format", "json", "-o", run,
                               "--figures", os.path.join(here, "figures")],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=here)
    if done.returncode not in (0, 1):
        print(f"reproduce {paper} ended with {done.returncode}: {done.stderr.strip()}")
        return 1
    rows = [r for p in json.loads(done.stdout)["parts"] if p["gpu"] == part for r in p["rows"]]
    count = {result: sum(r["result"] == result and not r["repeated"] for r in rows) for result in ("agrees", "explained", "differs")}
    # A key for which nothing was found is a question that was lost.
    lost = [r for r in rows if r["key"] and r["result"] == "not asked"]
    for r in rows:
        if r["result"] in ("differs", "explained") or r in lost:
            found = r["finding"] or {"verdict": "no finding", "value": None, "because": ""}
            print(f"{r['result']}: {r['where']}, {r['row']}: {r['key']} is {r['published']} {r['published_unit']}, "
                  f"ours {found['verdict']} {found['value']}: {found['because']}")
    # A deviation that is not needed any more has to go.
    stale = [r for r in rows if r["deviation"] and r["result"] == "agrees"]
    for r in stale:
        print(f"stale deviation: {r['where']}, {r['row']}: {r['key']}")
    # Every numbered figure that the paper file names is drawn.
    missing = [line for line in done.stderr.splitlines() if "was not drawn" in line]
    print("\n".join(missing), end="\n" if missing else "")
    print(f"{paper} on {part}: {count['agrees']} agree, {count['explained']} are explained, {count['differs']} differ")
    return int(bool(count["differs"] or lost or stale or missing) or count["agrees"] < least or count["explained"] > most or done.returncode)


sys.exit(main())
