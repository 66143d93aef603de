#!/usr/bin/env python3
"""The twin that `fathom export --to gpu` makes of a run contradicts its original in nothing that a .gpu file can say.

Usage: twin.py FATHOM SOURCE GPU:LIKE[:PROBES][=MOST] ...   LIKE: another GPU, which lends what nobody measured; PROBES: those that are run,
                                                     with commas between them; MOST: as many contradictions are known
       twin.py FATHOM SOURCE recorded             the twins of recorded runs load and run
"""
import json
import lzma
import os
import subprocess
import sys
import tempfile

def fathom(program, *args):
    return subprocess.run([program, *args], capture_output=True, text=True)


def twin(program, run, path, like=None):
    made = fathom(program, "export", run, "--to", "gpu", *(["--like", like] if like else []))
    with open(path, "w", encoding="utf-8") as out:
        out.write(made.stdout)
    return made.returncode


def measured(program, device, out, probes):
    done = fathom(program, "run", "-d", device, "-o", out, *(["-p", probes] if probes else []))
    return None if done.returncode == 0 else f"{device}: {done.stderr[-300:]}"


def contradictions(program, folder, gpu, like, probes):
    first, again, path = (os.path.join(folder, n) for n in ("first.fathom", "again.fathom", f"{gpu}.gpu"))
    failed = measured(program, f"sim:{gpu}", first, probes)
    if failed or twin(program, first, path, like):
        return [failed or f"{gpu}: not exported"], 0
    failed = measured(program, f"sim:{path}", again, probes)
    if failed:
        return [failed], 0
    rows = json.loads(fathom(program, "compare", first, again, "--format", "json").stdout)["rows"]
    wrong = [f"{gpu}: {r['key']}: {r}" for r in rows if r["state"] == "contradict"]
    return wrong, sum(r["state"] == "agree" for r in rows)


def recorded(program, source, folder):
    for name in ("h100", "h200"):
        run, path = os.path.join(folder, f"{name}.fathom"), os.path.join(folder, f"{name}.gpu")
        with lzma.open(os.path.join(source, "tests", "recorded", f"{name}.fathom.xz")) as packed, open(run, "wb") as f:
            f.write(packed.read())
        failed = f"{name}: not exported" if twin(program, run, path) else measured(program, f"sim:{path}", run + "2", "clock,barrier")
        if failed:
            yield failed


def main():
    program, source, *which = sys.argv[1:]
    wrong = []
    for name in which:
        with tempfile.TemporaryDirectory() as folder:
            if name == "recorded":
                wrong += recorded(program, source, folder)
                continue
            name, _, most = name.partition("=")
            gpu, like, *probes = name.split(":")
            more, agree = contradictions(program, folder, gpu, like, *(probes or [""]))
            print(f"{gpu}: {agree} findings agree, {len(more)} contradict")
            more = more if len(more) > int(most or 0) else []
            if agree < 20:
                more.append(f"{gpu}: hardly anything was compared")
            wrong += more
    print(*wrong, sep="\n")
    return 1 if wrong else 0


sys.exit(main())
