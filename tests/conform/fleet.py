#!/usr/bin/env python3
"""`fathom fleet` and `--expect`: a slower card among its like is named, and so is what contradicts an expectation.

Usage: fleet.py FATHOM SOURCE-ROOT
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

CARDS, SLOW = 5, "runs/card3.fathom"
L2 = "cache.global.l2.latency"


def call(*words):
    return subprocess.run(words, capture_output=True, text=True)


def measure(fathom, gpu, path, *words):
    done = call(fathom, "run", "-p", "global_cache", "-d", f"sim:{gpu}", "-o", path, *words)
    return done


def fleet(fathom):
    wrong = []
    os.makedirs("runs")
    for i in range(CARDS):
        shutil.copy("slow.fathom" if f"runs/card{i}.fathom" == SLOW else "good.fathom", f"runs/card{i}.fathom")
    done = call(fathom, "fleet", "runs", "--format", "json")
    said = json.loads(done.stdout)
    if done.returncode != 1 or SLOW not in done.stderr or {o["file"] for o in said["outliers"]} != {SLOW}:
        wrong.append(f"fleet: exit {done.returncode}: {said['outliers']}: {done.stderr}")
    if L2 not in [o["key"] for o in said["outliers"]] or [k["median"] for k in said["keys"] if k["key"] == L2] != [150]:
        wrong.append(f"fleet: {L2} is not named: {said['outliers']}")
    text = call(fathom, "fleet", *[f"runs/card{i}.fathom" for i in range(CARDS)])
    if text.returncode != 1 or not re.search(re.escape(L2) + r".*165.*150.*\+10 %", text.stdout):
        wrong.append(f"fleet: {text.stdout}")
    metrics = call(fathom, "fleet", "runs", "--to", "openmetrics", "--html", "fleet.html")
    if f'fathom_fleet_apart{{file="{SLOW}"' not in metrics.stdout or not metrics.stdout.endswith("# EOF\n") or \
            not re.search(f'ratio.*{L2}.*{SLOW}.* 1\\.1\n', metrics.stdout):
        wrong.append(f"fleet, metrics: {metrics.stdout}")
    if shutil.which("promtool"):
        done = subprocess.run(["promtool", "check", "metrics"], input=metrics.stdout, capture_output=True, text=True)
        wrong += [f"promtool: {done.stdout}{done.stderr}"] if done.returncode else []
    with open("fleet.html") as f:
        page = f.read()
    if L2 not in page or SLOW not in page or "off the median" not in page or "<script" in page:
        wrong.append("fleet: the page does not say which card differs")
    os.remove(SLOW)
    alike = call(fathom, "fleet", "runs/")
    if alike.returncode or f"{CARDS - 1} cards" not in alike.stdout:
        wrong.append(f"alike: exit {alike.returncode}: {alike.stdout}{alike.stderr}")
    os.makedirs("empty")
    none = call(fathom, "fleet", "empty")
    if none.returncode != 4:
        wrong.append(f"an empty folder: exit {none.returncode}")
    return wrong


def expected(fathom, name, run, text, code, *says):
    if text is not None:
        with open("expected", "w") as f:
            f.write(text)
    done = call(fathom, "report", run, "--format", "csv", "--expect", "expected" if text is not None else "good.fathom")
    missing = [s for s in says if s not in done.stderr]
    return [f"{name}: exit {done.returncode}: {done.stderr}"] if done.returncode != code or missing else []


def main():
    fathom, root = (os.path.abspath(p) for p in sys.argv[1:3])
    toy = open(f"{root}/gpus/toy.gpu").read()
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        with open("slow.gpu", "w") as f:
            f.write(re.sub(r"(?m)^(cache\.global\.l2\.latency = )150", r"\g<1>165", toy))
        good = measure(fathom, "toy", "good.fathom")
        if good.returncode:
            sys.exit(good.stderr)
        slow = measure(fathom, "slow.gpu", "slow.fathom", "--expect", "good.fathom")
        wrong = [] if slow.returncode == 1 and f"{L2}: expected 150" in slow.stderr and "found 165" in slow.stderr else \
            [f"run --expect: exit {slow.returncode}: {slow.stderr[-1500:]}"]
        wrong += expected(fathom, "itself", "good.fathom", None, 0)
        wrong += expected(fathom, "former", "slow.fathom", None, 1, f"{L2}: expected 150 cycles", "found 165 cycles")
        wrong += expected(fathom, "within", "slow.fathom", f"{L2} = 155 +- 10  # vendor\ncache.global.l1.size = 4096\n", 0)
        wrong += expected(fathom, "outside", "slow.fathom", f"\n{L2} = 150 +- 5 %\n", 1, "expected:2", "165")
        wrong += expected(fathom, "no line", "good.fathom", "hello\n", 4, "expected:1")
        wrong += expected(fathom, "no key", "good.fathom", "no.such.key = 1\n", 4, "no.such.key")
        wrong += expected(fathom, "undecided", "good.fathom", "shared.latency = 5\n", 0, "1 of 1 expectations")
        wrong += fleet(fathom)
    sys.exit("\n".join(wrong) or 0)


main()
