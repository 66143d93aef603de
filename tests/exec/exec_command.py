#!/usr/bin/env python3
"""A CUDA program on simulated GPUs, from outside: what comes out, exit codes, and the sentence about what is not served.

Usage: exec_command.py FATHOM PROGRAM
"""
import subprocess
import sys

FATHOM, PROGRAM = sys.argv[1:]
# what the program does, how it ends, and what it or the library says
CASES = [
    ("plain", 0, "good"),
    ("lz4", 0, "good"),
    ("managed", 0, "good"),
    ("driver", 0, "good"),
    ("unserved", 3, "fathom exec: the program calls cudaGraphCreate, which the simulated GPU does not serve"),
    ("fault", 7, "an illegal memory access was encountered"),
    ("fault", 7, "kernel wild: line 19: illegal address: store of 8 bytes at 0x7000000000"),
    ("new", 1, "the program's PTX is for sm_120 and later, but this GPU is sm_70"),
    ("native", 1, "the program brings 1 native binaries and no PTX"),
]


def run(*words):
    return subprocess.run([FATHOM, "exec", *words], capture_output=True, text=True, timeout=60, check=False)


def main():
    bad = []
    for what, code, words in CASES:
        r = run("--gpu", "toy", "--", PROGRAM, what)
        if r.returncode != code or words not in r.stdout + r.stderr:
            bad.append(f"{what}: exit code {r.returncode} instead of {code}, or not {words!r}:\n{r.stdout}{r.stderr}")
    for words, code, text in [(("--gpu", "h200", PROGRAM, "plain"), 0, "good"), (("--gpu", "none", PROGRAM), 4, "none"),
                              (("--gpu", "toy", "./not-there"), 4, "cannot run ./not-there"), ((PROGRAM,), 2, "--gpu")]:
        r = run(*words)
        if r.returncode != code or text not in r.stdout + r.stderr:
            bad.append(f"{words}: exit code {r.returncode} instead of {code}, or not {text!r}:\n{r.stdout}{r.stderr}")
    print("\n".join(bad) or f"{len(CASES) + 4} runs: as they should be")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
