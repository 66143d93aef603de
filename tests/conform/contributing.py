#!/usr/bin/env python3
"""CONTRIBUTING.md's example of a new probe, word for word, in a copy of what it touches: the files are made, the key gets its line, what
was made compiles without a warning, and doing it twice is refused.

Usage: new_probe.py ROOT CC
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT, CC = os.path.abspath(sys.argv[1]), sys.argv[2]
problems = []

with open(os.path.join(ROOT, "CONTRIBUTING.md"), encoding="utf-8") as f:
    example = re.search(r"^tools/new_probe\.py .*$", f.read(), flags=re.M).group(0)
name, key = re.search(r"new_probe\.py (\w+)", example).group(1), re.search(r'" ([\w.]+) --unit', example).group(1)
with tempfile.TemporaryDirectory() as copy:
    os.makedirs(os.path.join(copy, "probes"))
    shutil.copytree(os.path.join(ROOT, "src"), os.path.join(copy, "src"))
    shutil.copytree(os.path.join(ROOT, "tools"), os.path.join(copy, "tools"))
    keys = os.path.join(copy, "src", "data", "keys.def")
    with open(keys, encoding="utf-8") as f:
        before = f.read()
    if f'"{key}"' in before or os.path.exists(os.path.join(ROOT, "probes", name)):
        problems.append(f"the example's probe {name} or key {key} is there already: take another one")
    shell = subprocess.run(["sh", "-c", example], cwd=copy, check=False, capture_output=True, text=True)
    if shell.returncode:
        problems.append(f"`{example}` ends with {shell.returncode}: {shell.stderr}")
    with open(keys, encoding="utf-8") as f:
        after = f.read()
    if not re.fullmatch(rf'K\("{re.escape(key)}", "cycles", "[^"]+"\)\n', after[len(before):]):
        problems.append(f"keys.def got {after[len(before):]!r}")
    made = os.path.join(copy, "probes", name, name + ".c")
    for source in (made, os.path.join(copy, "src", "data", "keys.c")):
        done = subprocess.run([CC, "-std=gnu17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wno-missing-field-initializers", "-Werror",
                               "-fsyntax-only", "-I", os.path.join(copy, "src"), source], check=False, capture_output=True, text=True)
        if done.returncode:
            problems.append(f"{os.path.basename(source)} does not compile:\n{done.stderr}")
    if subprocess.run(["sh", "-c", example], cwd=copy, check=False, capture_output=True).returncode == 0:
        problems.append("a probe of that name is there, and another one is made over it")
print("\n".join(problems + [f"contributing: {len(problems)} problems"]))
sys.exit(1 if problems else 0)
