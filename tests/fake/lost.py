#!/usr/bin/env python3
"""Nothing is lost silently.

What the driver, the system or somebody's `kill` keeps from being measured is FAILED, with exit 1 and one line on standard error. Then
`--resume` measures it.

Usage: lost.py FATHOM FOLDER-OF-THE-FAKE-DRIVER [TRIES] [SEED]
"""
import json
import os
import random
import subprocess
import sys
import tempfile
import time

PROBES = "clock,shared_memory"
FATHOM, FOLDER = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
TRIES = int(sys.argv[3]) if len(sys.argv) > 3 else 3
BASE = dict(os.environ, LD_LIBRARY_PATH=FOLDER, FAKE_CUDA_GPU="toy", XDG_CACHE_HOME="cache")


def run(*words, **played):
    return subprocess.run([FATHOM, *words], env=dict(BASE, **played), capture_output=True, text=True)


def findings(path):
    report = json.loads(run("report", path, "--format", "json").stdout)
    return {f["key"]: f for f in report["findings"]}


def verdicts(path):
    return {key: f["verdict"] for key, f in findings(path).items()}


def complaints(stderr):
    return [line for line in stderr.splitlines() if line.startswith("fathom: ")]


def same_or_said(name, truth, path, code, stderr):
    """The findings are those of an undisturbed run; where one is not, it is FAILED, and that is said."""
    got = verdicts(path)
    wrong = [f"{name}: {key} is {got.get(key, 'gone')}, not {v}" for key, v in truth.items() if got.get(key) not in (v, "FAILED")]
    failed = "FAILED" in got.values()
    if (code, len(complaints(stderr))) != ((1, 1) if failed else (0, 0)):
        wrong.append(f"{name}: exit {code} with {'' if failed else 'no '}failed findings: {stderr}")
    return wrong


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
            return [int(word) for word in f.read().split()]
    except FileNotFoundError:
        return []


def killed(truth, seconds, seed):
    """A child that is killed at any time is followed by another one, which measures the same."""
    rng, wrong, hit = random.Random(seed), [], 0
    for n in range(TRIES):
        path, wait = f"killed{n}.fathom", rng.uniform(0, seconds)
        process = subprocess.Popen([FATHOM, "run", "-d", "cuda:0", "-p", PROBES, "-o", path], env=BASE, text=True,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        time.sleep(wait)
        for child in children(process.pid):
            os.kill(child, 9)
            hit += 1
        stderr = process.communicate()[1]
        if process.returncode:
            wrong.append(f"killed after {wait:.3f} s: exit {process.returncode}: {stderr}")
        else:
            wrong += same_or_said(f"killed after {wait:.3f} s", truth, path, process.returncode, stderr)
    print(f"{hit} children killed in {TRIES} runs")
    return wrong


def failing(truth):
    """What fails every time costs its own findings, and is measured when it is resumed."""
    wrong = []
    for name, plan in (("time-out", "cuLaunchKernel:0:702"), ("no memory", "cuMemAlloc_v2:0:2"), ("refused", "cuLaunchKernel:0:1"),
                       ("busy", "cuLaunchKernel:0:46"), ("compiler", "cuLinkAddData_v2:0:218"), ("module", "cuModuleLoadData:0:2")):
        path = name.replace(" ", "-") + ".fathom"
        done = run("run", "-d", "cuda:0", "-p", PROBES, "-o", path, FAKE_CUDA_FAIL=plan)
        got = verdicts(path)
        wrong += [f"{name}: {key} is {v}" for key, v in got.items() if v != "FAILED"]
        if done.returncode != 1 or len(complaints(done.stderr)) != 1 or "FAILED" not in done.stderr or not got:
            wrong.append(f"{name}: exit {done.returncode}, {len(got)} findings: {done.stderr}")
        again = run("run", "--resume", "-o", path)
        if again.returncode or verdicts(path) != truth:
            wrong.append(f"{name}, resumed: exit {again.returncode}, {verdicts(path)}: {again.stderr}")
    return wrong


def main():
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        began = time.monotonic()
        whole = run("run", "-d", "cuda:0", "-p", PROBES, "-o", "whole.fathom")
        seconds = time.monotonic() - began
        truth = verdicts("whole.fathom")
        wrong = same_or_said("undisturbed", truth, "whole.fathom", whole.returncode, whole.stderr)
        wrong += killed(truth, seconds, int(sys.argv[4]) if len(sys.argv) > 4 else time.time_ns()) + failing(truth)
    print("\n".join(wrong + [f"{len(truth)} findings, {len(wrong)} wrong"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
