#!/usr/bin/env python3
"""An OpenCL device that goes away in the middle of a run.

One sentence says so, the points that were measured are kept, and the run goes on when it is back.

Usage: opencl_gone.py FATHOM FOLDER-OF-THE-FAKE-LOADER
"""
import ctypes.util
import glob
import json
import os
import subprocess
import sys
import tempfile

SKIPPED = 77


def real_loader():
    for folder in ("/usr/lib/*", "/usr/lib", "/usr/lib64", "/usr/local/lib"):
        for path in glob.glob(os.path.join(folder, "libOpenCL.so.1")):
            return path
    return None


def main():
    fathom, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
    real = real_loader()
    if not real or not ctypes.util.find_library("OpenCL"):
        print("no OpenCL loader here")
        return SKIPPED
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        base = dict(os.environ, LD_LIBRARY_PATH=folder, FAKE_OPENCL_REAL=real)
        line = [fathom, "run", "-d", "opencl:0.0", "-p", "divergence", "-o", "gone.fathom"]
        listed = subprocess.run([fathom, "list", "devices"], env=base, capture_output=True, text=True)
        if "opencl:0.0" not in listed.stdout:
            print("no OpenCL device here")
            return SKIPPED
        env = dict(base, FAKE_OPENCL_FAULT="10", FAKE_OPENCL_GONE="marker")
        lost = subprocess.run(line, env=env, capture_output=True, text=True)
        said = lost.stderr.strip().splitlines()
        wrong = []
        if lost.returncode != 3 or not said or "opencl:0.0 is gone: " not in said[-1]:
            wrong.append(f"exit {lost.returncode}: {lost.stderr}")
        if "go on when it is back: fathom run --resume -o gone.fathom" not in lost.stderr:
            wrong.append("it does not say how to go on")
        kept = subprocess.run([fathom, "report", "gone.fathom", "--format", "json", "--series"], env=base, capture_output=True, text=True)
        points = sum(len(s["points"]) for s in json.loads(kept.stdout)["series"])
        if not points:
            wrong.append("nothing was kept")
        bare = subprocess.run([fathom, "list", "devices"], env=dict(env, XDG_CACHE_HOME=scratch), capture_output=True, text=True)
        if bare.returncode or "OpenCL platform 0 (" not in bare.stdout or ") has no device" not in bare.stdout:
            wrong.append(f"a platform without devices: exit {bare.returncode}: {bare.stdout}")
        os.remove("marker")
        again = subprocess.run([fathom, "run", "--resume", "-o", "gone.fathom"], env=base, capture_output=True, text=True)
        if again.returncode:
            wrong.append(f"resumed: exit {again.returncode}: {again.stderr}")
    print("\n".join(wrong + [f"{points} points kept, {len(wrong)} wrong"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
