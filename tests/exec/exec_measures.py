#!/usr/bin/env python3
"""fathom measures a simulated GPU by its CUDA backend and `fathom exec`'s driver, as if it were a card, and finds what it finds without them.

Usage: exec_measures.py FATHOM GPU PROBES
"""
import json
import os
import subprocess
import sys
import tempfile

FATHOM, GPU, PROBES = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3]


def measure(path, before, device):
    ran = subprocess.run([*before, FATHOM, "run", "-d", device, "-p", PROBES, "-o", path], capture_output=True, text=True, check=False)
    if ran.returncode:
        sys.exit(f"{device}: exit {ran.returncode}: {ran.stderr}")
    out = subprocess.run([FATHOM, "report", path, "--format", "json"], capture_output=True, text=True, check=True)
    report = json.loads(out.stdout)
    return report["device"], {f["key"]: f for f in report["findings"]}


def agree(a, b):
    """A launch begins at another moment of the GPU's than on the other way: then the intervals have to agree."""
    if a["verdict"] != b["verdict"] or a["value"] == b["value"]:
        return a["verdict"] == b["verdict"]
    numbers = [f[k] for f in (a, b) for k in ("value", "lo", "hi")]
    return all(isinstance(n, (int, float)) for n in numbers) and a["lo"] <= b["value"] <= a["hi"] and b["lo"] <= a["value"] <= b["hi"]


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        card, got = measure("card.fathom", (FATHOM, "exec", "--gpu", GPU, "--"), "cuda:0")
        _, truth = measure("sim.fathom", (), "sim:" + GPU)
    wrong = [f"the device says {card}"] if card["backend"] != "cuda" or not card["name"].endswith(" (simulated)") else []
    wrong += [f"{key}: only one of the two finds it" for key in set(got) ^ set(truth)]
    wrong += [f"{key} is {got[key]}, not {truth[key]}" for key in set(got) & set(truth) if not agree(got[key], truth[key])]
    measured = sum(f["verdict"] == "MEASURED" for f in truth.values())
    if measured < 10:
        wrong.append(f"only {measured} findings to compare")
    print("\n".join(wrong + [f"{GPU}: {measured} findings compared, {len(wrong)} wrong"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
