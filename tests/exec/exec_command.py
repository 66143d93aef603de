#!/usr/bin/env python3
"""A CUDA program on simulated GPUs, from outside: what comes out, exit codes, and the sentence about what is not served.

Usage: exec_command.py FATHOM PROGRAM
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

FATHOM, PROGRAM = sys.argv[1:]
# what the program does, how it ends, and what it or the library says
CASES = [
    ("plain", 0, "good"),
    ("lz4", 0, "good"),
    ("managed", 0, "good"),
    ("driver", 0, "good"),
    ("link", 0, "good"),
    ("apart", 0, "good"),
    ("names", 0, "good"),
    ("mapped", 0, "good"),
    ("described", 0, "good"),
    ("unserved", 3, "fathom exec: the program calls cudaGraphDebugDotPrint, which the simulated GPU does not serve"),
    ("fault", 7, "an illegal memory access was encountered"),
    ("fault", 7, "kernel wild: line 28: illegal address: store of 8 bytes at 0x7000000000"),
    ("new", 1, "the program's PTX is for sm_120 and later, but this GPU is sm_70"),
    ("native", 1, "the program brings 1 native binaries and no PTX"),
]


def run(*words):
    return subprocess.run([FATHOM, "exec", *words], capture_output=True, text=True, timeout=60, check=False)


def statistics(folder):
    """What --stats writes agrees with itself: launches with kernels, classes with instructions."""
    path = os.path.join(folder, "run.json")
    r = run("--gpu", "h200", "--stats", path, PROGRAM, "plain")
    with open(path, encoding="utf-8") as f:
        got = json.load(f)
    kernel = got["kernels"][0]
    table = run("--gpu", "h200", "--stats", "--", PROGRAM, "plain")
    checks = {
        "exit code": r.returncode == 0,
        "one kernel, two launches": [k["kernel"] for k in got["kernels"]] == ["scale"] and kernel["launches"] == len(got["launches"]) == 2,
        "cycles": kernel["cycles"] == sum(x["cycles"] for x in got["launches"]) == got["total"]["cycles"],
        "instructions": kernel["instructions"] == sum(kernel["classes"].values()) == sum(x["instructions"] for x in got["launches"]),
        "atomics": kernel["atomics"] == {"instructions": 64, "lanes": 2000},  # 1000 threads, twice
        "lanes": 0.9 < kernel["lane_efficiency"] <= 1 and 0 < kernel["occupancy"]["reached"] <= kernel["occupancy"]["possible"],
        "memory": kernel["memory"]["transactions"] >= kernel["memory"]["requests"] == 3 * 64,  # x, y and total, of 64 warps; constants are operands
        "a table": "kernel scale: 2 launches" in table.stderr and "global.l1" in table.stderr,
    }
    return [f"statistics: {what}: {got}" for what, good in checks.items() if not good]


def ended(folder):
    """Ctrl-C in the middle of a kernel: the program ends by it, and what was counted is written."""
    bad = []
    path = os.path.join(folder, "ended.json")
    for signo in (signal.SIGINT, signal.SIGTERM):
        words = [FATHOM, "exec", "--gpu", "toy", "--check", "--stats", path, "--", PROGRAM, "endless"]
        # A shell in the background has its children ignore SIGINT.
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) as p:
            begun = p.stdout.readline()
            time.sleep(0.5)
            p.send_signal(signo)
            said = p.communicate(timeout=60)[1]
        with open(path, encoding="utf-8") as f:
            kernels = json.load(f)["kernels"]
        if p.returncode != -signo or begun != "begun\n" or "ended by a signal" not in said or "0 accesses" not in said or [
                k["kernel"] for k in kernels] != ["endless"] or not 0 < kernels[0]["occupancy"]["reached"] <= kernels[0]["occupancy"]["possible"]:
            bad.append(f"ended by {signo}: {p.returncode}: {begun}{said}{kernels}")
    return bad


def checks():
    """What --check says of a careless program, and that it has nothing to say of a good one; without it neither hears of anything."""
    bad = []
    for what, words, sentences in [
            ("careless", ("--check",), ["kernel careless, line 21: 4 bytes at 0x", "are read and were never written; thread (",
                                        "reach beyond their allocation of 600 bytes", "one of them writes, and no barrier is between",
                                        "1 allocations of 600 bytes were never freed", "at 3 places"]),
            ("neighbours", ("--check",), ["reach beyond their allocation of 512 bytes", "are in no allocation"]),
            ("plain", ("--check",), ["check: 0 accesses of kernels are wrong, at 0 places"]), ("careless", (), [])]:
        r = run("--gpu", "toy", *words, "--", PROGRAM, what)
        missing = [s for s in sentences if s not in r.stderr]
        if r.returncode or missing or (not words and r.stderr):
            bad.append(f"{what} {words}: exit code {r.returncode}, not said: {missing}:\n{r.stderr}")
    return bad


def main():
    with tempfile.TemporaryDirectory() as folder:
        bad = statistics(folder) + checks() + ended(folder)
    for what, code, words in CASES:
        r = run("--gpu", "toy", "--", PROGRAM, what)
        if r.returncode != code or words not in r.stdout + r.stderr:
            bad.append(f"{what}: exit code {r.returncode} instead of {code}, or not {words!r}:\n{r.stdout}{r.stderr}")
    for words, code, text in [(("--gpu", "h200", PROGRAM, "plain"), 0, "good"), (("--gpu", "none", PROGRAM), 2, "none"),
                              (("--gpu", "toy,v100", "--", PROGRAM, "devices"), 0, "good"),
                              (("--gpu", "toy,nosuch", "--", PROGRAM, "devices"), 2, "nosuch"), (("--gpu", ",", PROGRAM), 2, "names no"),
                              (("--gpu", "toy", "./not-there"), 4, "cannot run ./not-there"), ((PROGRAM,), 2, "--gpu"),
                              (("--gpu", "h200", "--untimed", "--", PROGRAM, "events"), 0, "kernels take as long as empty ones"),
                              (("--gpu", "toy", "--untimed", "--", PROGRAM, "fault"), 7, "kernel wild: line 28: illegal address: store of 8"),
                              (("--gpu", "toy", "--untimed", "--stats", "--", PROGRAM), 2, "--untimed counts no cycles")]:
        r = run(*words)
        if r.returncode != code or text not in r.stdout + r.stderr:
            bad.append(f"{words}: exit code {r.returncode} instead of {code}, or not {text!r}:\n{r.stdout}{r.stderr}")
    print("\n".join(bad) or f"{len(CASES) + 10} runs: as they should be")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
