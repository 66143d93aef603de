#!/usr/bin/env python3
"""Predicts every kernel of kernels.txt and runs it: prints expected beside measured, and the errors.

Usage: errors.py FATHOM RUN.fathom DEVICE [--markdown]
       errors.py FATHOM --truth TRUTH_RUN DEVICE ...: from a run file that TRUTH_RUN makes of the simulated GPU's description
       [--most ERROR] [--median ERROR] [--only NAME,...]

Kernels count that depend neither on data nor on what no finding tells. The exit code is 1 if a run time lies outside of its interval. It
is 1 as well if an error of those is larger than --most, or their median larger than --median.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def rows():
    with open(os.path.join(HERE, "kernels.txt"), encoding="utf-8") as f:
        for text in f:
            word = text.split("#")[0].split()
            if word:
                yield word[0], word[1], word[2], word[3], word[4:]


def sm_count(fathom, run):
    text = subprocess.run([fathom, "report", run, "--format", "json"], check=True, capture_output=True, text=True).stdout
    return json.loads(text)["device"]["sm_count"]


def predict(fathom, run, device, sms, row):
    name, kernel, grid, block, arguments = row
    grid = re.sub(r"(\d+\*)?SM", lambda m: str(sms * int((m.group(1) or "1*")[:-1])), grid)
    line = [fathom, "predict", os.path.join(HERE, kernel), "--grid", grid, "--block", block, "--from", run, "--check", device,
            "--format", "json"]
    for a in arguments:
        line += ["--template", a.split(":", 1)[1]] if a.startswith("template:") else ["--arg", a]
    done = subprocess.run(line, capture_output=True, text=True)
    if done.returncode:
        print(f"{name}: {done.stderr.strip()}")
        return None
    return json.loads(done.stdout)


def option(args, name, otherwise):
    return args[args.index(name) + 1] if name in args else otherwise


def compare(args):
    fathom, run, device = args[:3]
    only = option(args, "--only", "")
    found, bad = [], 0
    sms = sm_count(fathom, run)
    for row in rows():
        if only and row[0] not in only.split(","):
            continue
        p = predict(fathom, run, device, sms, row)
        if p is None:
            bad += 1
            continue
        error = (p["seconds"] - p["measured_seconds"]) / p["measured_seconds"]
        inside = p["lo"] <= p["measured_seconds"] and (p["hi"] is None or p["measured_seconds"] <= p["hi"])
        decided = ("data decide" if any("data decide" in u for u in p["unknown"])
                   else "no finding tells" if any("no finding tells" in u for u in p["unknown"]) else "")
        found.append((row[0], p, error, inside, decided))
    found.sort(key=lambda r: -abs(r[2]))
    if "--markdown" in args:
        print("| kernel | expected | from | to | measured | error | bound |\n|---|---:|---:|---:|---:|---:|---|")
    for name, p, error, inside, decided in found:
        us = [p["seconds"] * 1e6, p["lo"] * 1e6, (p["hi"] or float("inf")) * 1e6, p["measured_seconds"] * 1e6]
        notes = ("" if inside else ", outside of the interval") + (f", {decided}" if decided else "")
        if "--markdown" in args:
            print(f"| {name} | {us[0]:.2f} us | {us[1]:.2f} | {us[2]:.2f} | {us[3]:.2f} us | {100 * error:+.1f} %{notes} "
                  f"| {p['bound']}: {p['bound_by']} |")
        else:
            print(f"{name:24} {us[0]:10.2f} us ({us[1]:.2f} to {us[2]:.2f}), measured {us[3]:10.2f} us: {100 * error:+6.1f} %  "
                  f"{p['bound']}{notes}")
    counted = sorted(abs(r[2]) for r in found if not r[4])
    median = counted[len(counted) // 2] if counted else 0
    worst = counted[-1] if counted else 0
    print(f"{'' if '--markdown' not in args else chr(10)}{len(counted)} kernels that do not hang on data, or on what no finding tells: median error "
          f"{100 * median:.1f} %, largest {100 * worst:.1f} %")
    most, middle = float(option(args, "--most", "inf")), float(option(args, "--median", "inf"))
    outside = [r[0] for r in found if not r[3]]
    if outside:
        print("outside of their intervals:", ", ".join(outside))
    return 1 if bad or outside or 100 * worst > most or 100 * median > middle else 0


def main():
    args = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        if args[1] == "--truth":
            run = os.path.join(folder, "truth.fathom")
            subprocess.run([args[2], args[3].split(":")[1], run], check=True)
            args = [args[0], run] + args[3:]
        return compare(args)


sys.exit(main())
