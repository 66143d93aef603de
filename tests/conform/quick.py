#!/usr/bin/env python3
"""`run --quick` answers the plain questions and nothing that takes long, and what it stored is inferred and replayed as it was measured.

Usage: quick.py FATHOM
"""
import json
import os
import subprocess
import sys
import tempfile

PLAIN = ["clock.read_latency", "device.clock_hz", "arith.fma.f32.throughput", "arith.add.f64.latency", "pipeline.mad.ilp1.performance",
         "pipeline.dp.ilp1.performance", "memory.global.drawn", "memory.global.latency", "shared.latency", "shared.bandwidth",
         "cache.global.l1.size", "cache.global.l1.latency", "cache.global.l2.size", "cache.global.l2.latency",
         "cache.global.l2.bandwidth_total", "cache.constant.l1.size", "cache.constant.l1.latency"]
THOROUGH = ["arith.sin.f32.latency", "arith.div.f64.latency", "memory.global.fetch", "tlb.texture.l1.reach", "pipeline.items"]


def call(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: exit {done.returncode}: {done.stderr}")
    return done.stdout


def findings(fathom, run):
    report = json.loads(call(fathom, "report", run, "--format", "json"))
    return {f["key"]: f for f in report["findings"]}


def main():
    fathom = os.path.abspath(sys.argv[1])
    wrong = []
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        call(fathom, "run", "--quick", "-d", "sim:toy", "-o", "quick.fathom")
        found = findings(fathom, "quick.fathom")
        wrong += [f"{key} is not answered: {found.get(key)}" for key in PLAIN
                  if key not in found or found[key]["verdict"] != "MEASURED"]
        wrong += [f"{key} is {found[key]['verdict']}, and nothing of it was measured" for key in THOROUGH
                  if key in found and found[key]["verdict"] not in ("INCONCLUSIVE", "UNSUPPORTED")]
        said = call(fathom, "infer", "quick.fathom")
        kept = findings(fathom, "quick.fathom")
        if any((f["verdict"], f["value"], f["lo"], f["hi"]) != tuple(kept[key][k] for k in ("verdict", "value", "lo", "hi")) for key, f in found.items()):
            wrong.append(f"inferred again it says something else: {said}")
        call(fathom, "run", "--quick", "-d", "replay:quick.fathom", "-o", "again.fathom")
        again = findings(fathom, "again.fathom")
        wrong += [f"{key} of a replay is {again.get(key)}" for key, f in found.items()
                  if key not in again or (again[key]["verdict"], again[key]["value"]) != (f["verdict"], f["value"])]
    both = subprocess.run([fathom, "run", "--quick", "-p", "clock"], capture_output=True, text=True)
    if both.returncode != 2:
        wrong.append(f"--quick with -p: exit {both.returncode}")
    sys.exit("\n".join(wrong) or 0)


main()
