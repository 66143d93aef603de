#!/usr/bin/env python3
"""CONTRIBUTING.md's example of a new probe, word for word, in a copy of what it touches.

The files are made, and the key gets its line. They compile without a warning and run as the example says. Doing it twice is refused.

Usage: contributing.py ROOT BUILD
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT, BUILD = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
problems = []


def told(command, cwd):
    """What a command says; a problem when it ends badly."""
    done = subprocess.run(command, cwd=cwd, check=False, capture_output=True, text=True)
    if done.returncode:
        problems.append(f"`{shlex.join(command)[:300]}` ends with {done.returncode}: {done.stderr}")
    return done.stdout


def recipe(target):
    """The words of the command that makes it."""
    return shlex.split(told(["ninja", "-C", BUILD, "-t", "commands", "-s", target], BUILD).splitlines()[-1])


def program(copy, name):
    """The program that `make` would build: what the new probe changes is compiled, all else is the build's."""
    embed = recipe("src/base/embedded.c")
    patterns = embed[next(i for i, word in enumerate(embed) if word.endswith("embed.py")) + 4:]
    told([sys.executable, "tools/embed.py", copy, "embedded.c", "embedded.d"] + patterns, copy)
    told([sys.executable, "tools/probe_table.py", "table", copy, "table.c", "table.d"], copy)
    compiler = recipe("src/data/libdata.a.p/keys.c.o")
    compiler = [word for word in compiler[:compiler.index("-MD")] if not word.startswith("-I")]
    objects = []
    for source in ("embedded.c", "table.c", "src/data/keys.c", f"probes/{name}/{name}.c"):
        objects.append(os.path.join(copy, os.path.basename(source) + ".o"))
        told(compiler + ["-Werror", "-I", "src", "-c", source, "-o", objects[-1]], copy)
    # What comes first is taken; the libraries' own are then not asked for.
    link = recipe("fathom")
    out = link.index("-o")
    path = os.path.join(copy, "fathom")
    told(link[:out] + ["-o", path] + objects + link[out + 2:], BUILD)
    return path


def main():
    with open(os.path.join(ROOT, "CONTRIBUTING.md"), encoding="utf-8") as f:
        lines = re.search(r"^tools/new_probe\.py .*\nmake\n\./build/fathom .*$", f.read(), flags=re.M).group(0).splitlines()
    example, run = lines[0], shlex.split(lines[2])
    name, key = re.search(r"new_probe\.py (\w+)", example).group(1), re.search(r'" ([\w.]+) --unit', example).group(1)
    with tempfile.TemporaryDirectory() as copy:
        for folder in ("src", "tools"):
            shutil.copytree(os.path.join(ROOT, folder), os.path.join(copy, folder))
        for folder in ("gpus", "papers", "third_party"):
            os.symlink(os.path.join(ROOT, folder), os.path.join(copy, folder))
        os.makedirs(os.path.join(copy, "probes"))
        for folder in next(os.walk(os.path.join(ROOT, "probes")))[1]:
            os.symlink(os.path.join(ROOT, "probes", folder), os.path.join(copy, "probes", folder))
        keys = os.path.join(copy, "src", "data", "keys.def")
        with open(keys, encoding="utf-8") as f:
            before = f.read()
        if f'"{key}"' in before or os.path.exists(os.path.join(ROOT, "probes", name)):
            problems.append(f"the example's probe {name} or key {key} is there already: take another one")
        told(["sh", "-c", example], copy)
        with open(keys, encoding="utf-8") as f:
            after = f.read()
        if not re.fullmatch(rf'K\("{re.escape(key)}", "cycles", "[^"]+"\)\n', after[len(before):]):
            problems.append(f"keys.def got {after[len(before):]!r}")
        built = program(copy, name)
        said = told([built] + run[1:], copy) + told([built, "explain", key], copy) if not problems else ""
        if not problems and "the kernel still times an addition: 10 cycles" not in said:
            problems.append(f"`{lines[2]}` does not say what the probe concludes: {said}")
        if subprocess.run(["sh", "-c", example], cwd=copy, check=False, capture_output=True).returncode == 0:
            problems.append("a probe of that name is there, and another one is made over it")


main()
print("\n".join(problems + [f"contributing: {len(problems)} problems"]))
sys.exit(1 if problems else 0)
