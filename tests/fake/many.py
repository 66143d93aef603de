#!/usr/bin/env python3
"""`run -d cuda:all`: every card of a machine, a file each.

One that fails stops no other, Ctrl-C keeps what all have, and the exit code is the worst.

Usage: many.py FATHOM FOLDER-OF-THE-FAKE-DRIVER
"""
import glob
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

CARDS = 3


def run(fathom, env, *words):
    return subprocess.run([fathom, "run", *words], env=env, capture_output=True, text=True)


def device_of(fathom, path):
    out = subprocess.run([fathom, "report", path, "--format", "json"], capture_output=True, text=True, check=True)
    return json.loads(out.stdout)["device"]


def all_of_them(fathom, env):
    done = run(fathom, env, "-d", "cuda:all", "-p", "clock", "-o", "all-%u.fathom")
    files = sorted(glob.glob("all-*.fathom"))
    if done.returncode or len(files) != CARDS:
        return [f"all: exit {done.returncode}, {files}: {done.stdout}{done.stderr}"]
    wrong = [f"all: nothing is said of cuda:{i}: {done.stderr}" for i in range(CARDS) if f"cuda:{i}: [1/1] clock: done" not in done.stderr]
    wrong += [f"all: no line of cuda:{i}: {done.stdout}" for i in range(CARDS)
              if f"cuda:{i} " not in done.stdout or done.stdout.count("done") != CARDS]
    devices = [device_of(fathom, path) for path in files]
    if sorted(d["spec"] for d in devices) != [f"cuda:{i}" for i in range(CARDS)] or any(d["uuid"] not in f for d, f in zip(devices, files)):
        wrong.append(f"all: {files} are of {devices}")
    return wrong


def one_fails(fathom, env):
    """The first card is somebody else's."""
    done = run(fathom, dict(env, FAKE_CUDA_BUSY="1"), "-d", "cuda:all", "-p", "clock", "-o", "busy-%d.fathom")
    files = sorted(glob.glob("busy-*.fathom"))
    if done.returncode != 3 or files != [f"busy-cuda-{i}.fathom" for i in range(1, CARDS)]:
        return [f"busy: exit {done.returncode}, {files}: {done.stdout}{done.stderr}"]
    return [] if f"{CARDS - 1} of {CARDS} devices" in done.stderr else [f"busy: {done.stderr}"]


def one_dies(fathom, env):
    """In the middle, for good, and with its process; the others go on. The first to come to that launch makes the file."""
    done = run(fathom, dict(env, FAKE_CUDA_FAULT="20", FAKE_CUDA_ONCE="once", FATHOM_THREADS="1"), "-d", "cuda:all", "-p", "clock", "-o",
               "dies-%d.fathom")
    files = glob.glob("dies-*.fathom")
    return [] if len(files) == CARDS and done.returncode in (0, 1) else [f"dies: exit {done.returncode}, {files}: {done.stderr}"]


def stopped(fathom, env):
    """The signal comes to the first process alone, as from kill(1)."""
    line = [fathom, "run", "-d", "cuda:all", "-o", "stopped-%d.fathom"]
    going = subprocess.Popen(line, env=dict(env, FATHOM_THREADS=str(CARDS)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 60
    while len(glob.glob("stopped-*.fathom")) < CARDS and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(0.3)
    going.send_signal(signal.SIGINT)
    out, err = going.communicate(timeout=100)
    wrong = [] if going.returncode == 130 else [f"stopped: exit {going.returncode}: {out}{err}"]
    for i in range(CARDS):
        left = run(fathom, env, "--resume", "-o", f"stopped-cuda-{i}.fathom", "-p", "clock")
        if left.returncode:
            wrong.append(f"stopped: cuda:{i} does not go on: {left.stderr}")
    return wrong


def misuse(fathom, env):
    wrong = []
    for words in (["-d", "cuda:all", "-o", "one.fathom"], ["-d", "cuda:all", "--resume", "-o", "one.fathom"], ["-d", "nonsense:all"]):
        done = run(fathom, env, *words)
        if done.returncode != 2:
            wrong.append(f"{words}: exit {done.returncode}: {done.stderr}")
    none = run(fathom, dict(env, FAKE_CUDA_DEVICES="0"), "-d", "cuda:all")
    if none.returncode != 3:
        wrong.append(f"no card: exit {none.returncode}: {none.stderr}")
    mixed = run(fathom, env, "-d", "sim:toy,cuda:1", "-p", "clock", "-o", "mixed-%d.fathom")
    if mixed.returncode or sorted(glob.glob("mixed-*.fathom")) != ["mixed-cuda-1.fathom", "mixed-sim-toy.fathom"]:
        wrong.append(f"a list: exit {mixed.returncode}: {mixed.stderr}")
    return wrong


def main():
    fathom, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
    env = dict(os.environ, LD_LIBRARY_PATH=folder, FAKE_CUDA_GPU="toy", FAKE_CUDA_DEVICES=str(CARDS))
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        wrong = all_of_them(fathom, env) + one_fails(fathom, env) + one_dies(fathom, env) + stopped(fathom, env) + misuse(fathom, env)
    sys.exit("\n".join(wrong) or 0)


main()
