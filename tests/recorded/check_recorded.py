#!/usr/bin/env python3
"""Infers again from every recorded run and compares the findings with those committed beside it.

Usage: check_recorded.py FATHOM FOLDER [--write]

FOLDER holds X.fathom.xz or X.fathom.gz, a run file as `fathom run -o` wrote it, and X.json, its findings. Each recording
is checked in two ways. One infers from the stored series. The other runs anew with the recording as the device, which
must ask for the same points and conclude the same.

doc/results/X.md is the page made from it: the first screen, X.notes.md, and the figures (doc/results/X/*.svg). People
write X.notes.md. --write writes X.json, X.md and the figures.
"""
import gzip
import json
import lzma
import os
import re
import shutil
import subprocess
import sys
import tempfile

LIMIT = 6400 * 1000  # bytes of one compressed recording
PAGES = os.path.join("..", "..", "doc", "results")
# What a finding claims. Wording may improve without making a recording's answers wrong.
SHOWN = ("constant-latency", "global-latency-past-l1", "host-copies", "occupancy-roofline")  # of each page
CLAIM = ("verdict", "value", "lo", "hi", "unit", "scope")


def run(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
    return done.returncode, done.stdout, done.stderr.strip()


def findings(fathom, path):
    code, out, err = run(fathom, "report", "--format", "json", "--series", path)
    if code:
        raise RuntimeError(f"report of {os.path.basename(path)} ended with {code}: {err}")
    report = json.loads(out)
    points = [dict(p, probe=s["probe"]) for s in report["series"] for p in s["points"]]
    probe_of = {f["key"]: f["probe"] for f in report["findings"]}
    return {f["key"]: {k: f[k] for k in CLAIM} for f in report["findings"]}, points, probe_of


def differences(want, got):
    for key in sorted(set(want) | set(got)):
        if key not in got:
            yield f"{key}: is no longer concluded"
        elif key not in want:
            yield f"{key}: is new: {json.dumps(got[key])}"
        elif want[key] != got[key]:
            changed = [k for k in CLAIM if want[key].get(k) != got[key][k]]
            yield f"{key}: " + ", ".join(f"{k} was {json.dumps(want[key].get(k))}, is {json.dumps(got[key][k])}" for k in changed)


def untold(got):
    """Numbers of a level whose path does not say that it has levels."""
    told = ("MEASURED", "LIKELY", "BOUND")
    for key, f in sorted(got.items()):
        level = re.match(r"((?:cache|tlb)\.[a-z]+)\.l\d+\.", key)
        by = level and got.get(level[1] + ".levels")
        if by and f["verdict"] in told and by["verdict"] not in told:
            yield f"{key} is {f['verdict']}, but {level[1]}.levels is {by['verdict']}"


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def make_page(fathom, run_file, figures, name, notes):
    """The page's text; its figures go to a fresh folder."""
    code, _, err = run(fathom, "report", "--format", "csv", "--figures", figures, run_file)
    if not code:
        code, summary, err = run(fathom, "report", "--format", "summary", run_file)
    if code:
        raise RuntimeError(f"the page could not be made: {err}")
    drawn = sorted(os.listdir(figures)) if os.path.isdir(figures) else []
    parts = ["# " + summary.split("   ", 1)[0] + " (" + name + ")", "```\n" + summary.strip("\n") + "\n```"]
    if os.path.exists(notes):
        parts.append(read(notes).rstrip("\n"))
    shown = [f for f in drawn if f[:-4] in SHOWN] or drawn[:1]
    parts += [f"![{f[:-4]}]({name}/{f})" for f in shown]
    parts.append(f"All {len(drawn)} figures are in `doc/results/{name}/`, and all findings come by\n"
                 f"`fathom report {name}.fathom` from the unpacked `tests/recorded/{name}.fathom.xz`.")
    return "\n\n".join(parts) + "\n", drawn


def page_differences(fathom, run_file, folder, name, write):
    pages = os.path.join(folder, PAGES)
    page, kept = os.path.join(pages, name + ".md"), os.path.join(pages, name)
    with tempfile.TemporaryDirectory() as fresh:
        made, drawn = make_page(fathom, run_file, fresh, name, os.path.join(folder, name + ".notes.md"))
        if write:
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(fresh, kept)
        have = sorted(os.listdir(kept)) if os.path.isdir(kept) else []
        for figure in sorted(set(drawn) ^ set(have)):
            yield f"doc/results/{name}/{figure} is there and not drawn, or drawn and not there: run with --write"
        for figure in sorted(set(drawn) & set(have)):
            if read(os.path.join(fresh, figure)) != read(os.path.join(kept, figure)):
                yield f"doc/results/{name}/{figure} is not what the recording gives today: run with --write"
    if write:
        with open(page, "w", encoding="utf-8") as f:
            f.write(made)
    if not os.path.exists(page) or read(page) != made:
        yield f"doc/results/{os.path.basename(page)} is not what the recording gives today: run with --write"


def check(fathom, path, name, write):
    """Lines that say what is wrong."""
    size = os.path.getsize(path)
    if size > LIMIT:
        yield f"{size} bytes are more than {LIMIT}"
    with (lzma if path.endswith(".xz") else gzip).open(path) as f:
        data = f.read()
    with tempfile.TemporaryDirectory() as folder:
        copy, again = os.path.join(folder, "run.fathom"), os.path.join(folder, "again.fathom")
        with open(copy, "wb") as f:
            f.write(data)
        code, _, err = run(fathom, "infer", copy)
        if code:
            yield f"infer ended with {code}: {err}"
            return
        got, points, probe_of = findings(fathom, copy)
        if not got or not points:
            yield "the recording holds nothing"
        expected = os.path.join(os.path.dirname(path), name + ".json")
        if write:
            with open(expected, "w", encoding="utf-8") as f:
                json.dump(got, f, indent=1, sort_keys=True)
                f.write("\n")
        with open(expected, encoding="utf-8") as f:
            want = json.load(f)
        yield from untold(got)
        yield from differences(want, got)
        yield from page_differences(fathom, copy, os.path.dirname(path), name, write)
        code, _, err = run(fathom, "run", "-d", "replay:" + copy, "-o", again)
        if code > 1:  # 1: a probe failed then, so it fails now
            yield f"the replay ended with {code}: {err}"
            return
        replayed, answers, replayed_by = findings(fathom, again)
        # A probe may ask more than it did then: what it would conclude from that cannot be compared.
        asked = [p["probe"] for p in answers if p.get("message") == "not in the recording"]
        for probe in sorted(set(asked)):
            print(f"{name}: {asked.count(probe)} points of {probe} are asked for today and were not recorded; its replay is not compared")
        # One that helps others today and was not run then has nothing to be compared with.
        asked += set(replayed_by.values()) - set(probe_of.values())
        probe_of.update(replayed_by)
        kept, seen = ({k: f for k, f in all_of.items() if probe_of.get(k) not in asked} for all_of in (want, replayed))
        for line in differences(kept, seen):
            yield "replayed, " + line
        measured = sum(f["verdict"] == "MEASURED" for f in got.values())
        print(f"{name}: {len(data)} bytes, {size} compressed, {len(points)} points, {len(got)} findings, {measured} measured")


def main():
    fathom, folder = sys.argv[1:3]
    write = "--write" in sys.argv[3:]
    files = sorted(f for f in os.listdir(folder) if f.endswith((".fathom.xz", ".fathom.gz")))
    if not files:
        print("there are no recordings: nothing was inferred again")
        return 0
    wrong = 0
    for file in files:
        name = file[: file.index(".fathom")]
        try:
            for line in check(fathom, os.path.join(folder, file), name, write):
                wrong += 1
                print(f"{name}: {line}")
        except (RuntimeError, OSError, EOFError, ValueError, lzma.LZMAError) as e:
            wrong += 1
            print(f"{name}: {e}")
    print(f"{len(files)} recordings, {wrong} differences")
    return 1 if wrong else 0


sys.exit(main())
