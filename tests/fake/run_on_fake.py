#!/usr/bin/env python3
"""The whole program on a CUDA device that is none.

It finds on the fake driver what it finds on the simulated GPU behind that. A launch that hangs or kills the worker costs that launch.

Usage: run_on_fake.py FATHOM FOLDER-OF-THE-FAKE-DRIVER [PROBES]
"""
import json
import os
import subprocess
import sys
import tempfile

PROBES = sys.argv[3] if len(sys.argv) > 3 else "clock,shared_memory,global_cache"


def findings(fathom, folder, run, env):
    out = subprocess.run([fathom, "report", run, "--format", "json"], env=env, capture_output=True, text=True, check=True)
    report = json.loads(out.stdout)
    return report["device"], {f["key"]: f for f in report["findings"]}


def measure(fathom, folder, device, name, played):
    env = dict(os.environ, LD_LIBRARY_PATH=folder, FAKE_CUDA_GPU="toy", **played)
    run = os.path.join(name + ".fathom")
    done = subprocess.run([fathom, "run", "-d", device, "-p", PROBES, "-o", run], env=env, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{name}: exit {done.returncode}: {done.stdout}{done.stderr}")
    return findings(fathom, folder, run, env)


def compare(name, expected, got):
    wrong = []
    for key, f in expected.items():
        g = got.get(key)
        if g is None:
            wrong.append(f"{name}: {key} is missing")
        elif (f["verdict"], f["value"]) != (g["verdict"], g["value"]):
            wrong.append(f"{name}: {key} is {g['verdict']} {g['value']}, not {f['verdict']} {f['value']}")
    return wrong


def agree(a, b):
    if a["value"] == b["value"]:
        return True
    numbers = [f[k] for f in (a, b) for k in ("value", "lo", "hi")]
    return all(isinstance(n, (int, float)) for n in numbers) and a["lo"] <= b["value"] <= a["hi"] and b["lo"] <= a["value"] <= b["hi"]


def goes_away(fathom, folder, truth):
    """In the middle of a run, for good: one sentence, what was measured is kept, and the run goes on when it is back."""
    env = dict(os.environ, LD_LIBRARY_PATH=folder, FAKE_CUDA_GPU="toy")
    line = [fathom, "run", "-d", "cuda:0", "-p", PROBES, "-o", "gone.fathom"]
    # How many launches a run has depends on how long they take; the fault has to come late, when a probe has ended.
    for fault in ("200", "160", "120"):
        if os.path.exists("gone.fathom"):
            os.remove("gone.fathom")
        lost = subprocess.run(line, env=dict(env, FAKE_CUDA_FAULT=fault, FAKE_CUDA_GONE="gone"), capture_output=True, text=True)
        if os.path.exists("gone"):
            break
    said = lost.stderr.strip().splitlines()
    if lost.returncode != 3 or not said or "cuda:0 is gone: " not in said[-1] or "--resume -o gone.fathom" not in said[-1]:
        return [f"gone: exit {lost.returncode}: {lost.stderr}"]
    _, kept = findings(fathom, folder, "gone.fathom", env)
    if not [k for k, f in kept.items() if f["verdict"] == "MEASURED"]:
        return ["gone: nothing was kept"]
    os.remove("gone")
    again = subprocess.run([fathom, "run", "--resume", "-o", "gone.fathom"], env=env, capture_output=True, text=True)
    if again.returncode:
        return [f"gone: resumed, exit {again.returncode}: {again.stderr}"]
    _, got = findings(fathom, folder, "gone.fathom", env)
    return [f"gone: {key} is {got.get(key)}, not {f['value']}" for key, f in truth.items()
            if f["verdict"] == "MEASURED" and not (key in got and agree(got[key], f))]


def main():
    fathom, folder = sys.argv[1:3]
    fathom = os.path.abspath(fathom)
    wrong = []
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        _, truth = measure(fathom, folder, "sim:toy", "simulated", {})
        # A generation that came after this program.
        device, fake = measure(fathom, folder, "cuda:0", "fake", {"FAKE_CUDA_CC": "130"})
        if device["backend"] != "cuda" or not device["uuid"].startswith("GPU-"):
            wrong.append(f"the device says {device}")
        measured = [k for k, f in truth.items() if f["verdict"] == "MEASURED"]
        if len(measured) < 10:
            wrong.append(f"only {len(measured)} findings to compare")
        wrong += compare("fake", truth, fake)
        for name in ("hang", "crash", "fault"):
            marker = name + ".played"
            _, got = measure(fathom, folder, "cuda:0", name, {"FAKE_CUDA_" + name.upper(): "5", "FAKE_CUDA_ONCE": marker})
            if not os.path.exists(marker):
                wrong.append(f"{name}: nothing was played")
            if not [k for k, f in got.items() if f["verdict"] == "MEASURED"]:
                wrong.append(f"{name}: nothing was measured after it")
            for key, f in got.items():
                # A GPU opened afresh is disturbed at other moments: then the intervals have to agree.
                if f["verdict"] == "MEASURED" and key in truth and not agree(f, truth[key]):
                    wrong.append(f"{name}: {key} is {f['value']}, not {truth[key]['value']}")
        wrong += goes_away(fathom, folder, truth)
    print("\n".join(wrong + [f"{len(measured)} findings compared, {len(wrong)} wrong"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
