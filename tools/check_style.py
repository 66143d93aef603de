#!/usr/bin/env python3
"""clang-format and clang-tidy over the sources.

Usage: check_style.py [--format] [--write] [--tidy BUILD] [--shallow]

--shallow lets clang-tidy's analyzer follow one in eighty of the paths that it would: most of its time goes into the rest.
Exit code: 0 clean, 1 not, 77 the tool is not on this machine (a test harness reads that as skipped).
"""
import concurrent.futures
import glob
import json
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TOPS = ("src", "probes", "tests")
FORMAT_VERSION = 14


def tool(name):
    """clang-format, or the newest clang-format-N of the distribution."""
    found = shutil.which(name)
    if found:
        return found
    names = [n for folder in os.environ.get("PATH", "").split(":") for n in glob.glob(f"{folder}/{name}-[0-9]*")]
    names = [n for n in names if re.search(r"-\d+$", n)]
    if not names:
        print(f"{name} is not installed: not checked")
        sys.exit(77)
    return max(names, key=lambda n: int(n.rsplit("-", 1)[1]))


def files():
    for top in TOPS:
        for folder, _, names in os.walk(os.path.join(ROOT, top)):
            for name in sorted(names):
                if name.endswith((".c", ".h")):
                    yield os.path.join(folder, name)


def check_format(write):
    binary = tool("clang-format")
    said = subprocess.run([binary, "--version"], check=True, capture_output=True, text=True).stdout
    version = re.search(r"version (\d+)", said)
    # Another version breaks lines elsewhere; the tree is formatted by this one.
    if not version or int(version.group(1)) != FORMAT_VERSION:
        print(f"clang-format {FORMAT_VERSION} formats this tree, here is {said.strip()}: not checked")
        return 77
    if write:
        return subprocess.run([binary, "-i"] + list(files()), cwd=ROOT, check=False).returncode
    # One process for many files: starting one for each takes longer than formatting it.
    paths = list(files())
    step = -(-len(paths) // (os.cpu_count() or 1))
    batches = [paths[i:i + step] for i in range(0, len(paths), step)]

    def one(batch):
        return subprocess.run([binary, "--dry-run"] + batch, cwd=ROOT, check=True, capture_output=True, text=True).stderr

    with concurrent.futures.ThreadPoolExecutor(len(batches)) as pool:
        complaints = "".join(pool.map(one, batches))
    found = re.findall(r"^(.+?):\d+:\d+: (?:warning|error): code should be clang-formatted", complaints, re.M)
    bad = sorted({os.path.relpath(os.path.join(ROOT, path), ROOT) for path in found})
    for path in bad:
        print(f"{path}: not formatted; run `make format`")
    print(f"clang-format: {len(bad)} files to format")
    return 1 if bad else 0


def check_tidy(build, shallow):
    binary = tool("clang-tidy")
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
        entries = json.load(f)
    paths = sorted({os.path.realpath(os.path.join(e["directory"], e["file"])) for e in entries})
    tops = tuple(os.path.join(ROOT, top) + os.sep for top in ("src", "probes"))
    paths = [p for p in paths if p.startswith(tops)]

    limits = [f"--extra-arg={a}" for a in ("-Xclang", "-analyzer-config", "-Xclang", "max-nodes=3000")] if shallow else []

    def one(path):
        command = [binary, "-quiet", "-p", build, *limits, path]
        return subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)

    bad = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for path, result in zip(paths, pool.map(one, paths)):
            if result.returncode:
                bad += 1
                lines = [l for l in result.stdout.splitlines() if ": error:" in l or ": warning:" in l]
                print("\n".join(lines) or f"{path}: {result.stderr}")
    print(f"clang-tidy: {len(paths)} files, {bad} with complaints")
    return 1 if bad or not paths else 0


def main():
    args = sys.argv[1:]
    codes = []
    if "--format" in args:
        codes.append(check_format("--write" in args))
    if "--tidy" in args:
        codes.append(check_tidy(os.path.abspath(args[args.index("--tidy") + 1]), "--shallow" in args))
    return next((code for code in codes if code not in (0, 77)), max(codes, default=2))


if __name__ == "__main__":
    sys.exit(main())
