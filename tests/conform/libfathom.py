#!/usr/bin/env python3
"""libfathom as a stranger would use it.

It is installed into a folder, found by pkg-config, and linked to the example of the documentation. It says of a run what the program
says, and so does the Python reader. Only what the header declares is visible.

Usage: libfathom.py FATHOM SOURCE-ROOT BUILD-ROOT CC
"""
import glob
import importlib.util
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

VERDICTS = ["MEASURED", "LIKELY", "BOUND", "ABSENT", "INCONCLUSIVE", "UNSUPPORTED", "FAILED"]


def call(*words, env=None):
    done = subprocess.run(words, capture_output=True, text=True, env=env)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: exit {done.returncode}: {done.stdout}{done.stderr}")
    return done


def report(fathom, run):
    return {f["key"]: f for f in json.loads(call(fathom, "report", run, "--format", "json").stdout)["findings"]}


def same(value, said):
    """A value of the JSON, which has 15 digits, and what another reader says."""
    if isinstance(value, list):
        return len(value) == len(said) and all(same(v, s) for v, s in zip(value, said))
    if isinstance(value, (int, float)):
        return math.isclose(float(said), value, rel_tol=1e-13)
    return (said or None) == value


def visible(library, header):
    """Exactly the functions of the header, each with a version."""
    declared = set(re.findall(r"\b(fathom_\w+)\(", re.sub(r"/\*.*?\*/", "", open(header).read(), flags=re.S)))
    names = [line.split()[-1] for line in call("nm", "-D", "--defined-only", library).stdout.splitlines()]
    seen = {n for n in names if not n.startswith("LIBFATHOM")}
    return [] if seen == {f"{n}@@LIBFATHOM_0" for n in declared} else [f"visible is {seen ^ {f'{n}@@LIBFATHOM_0' for n in declared}}"]


def from_c(example, env, fathom, wrong):
    found = report(fathom, "toy.fathom")
    done = call(example, "toy.fathom", env=env)
    rows = dict((k, (VERDICTS[int(v)], said, unit)) for k, v, said, unit in (line.split("\t") for line in done.stdout.splitlines()))
    if set(rows) != set(found):
        wrong.append(f"findings of the library and the program differ: {set(rows) ^ set(found)}")
    wrong += [f"{k}: the library says {rows[k]}, the program {f}" for k, f in found.items()
              if k in rows and (rows[k][0] != f["verdict"] or not same(f["value"], rows[k][1].split() if isinstance(f["value"], list) else rows[k][1]) or rows[k][2] != f["unit"])]
    if "figure global-latency" not in done.stderr:
        wrong.append(f"no figure: {done.stderr}")
    measured = call(example, "--measure", "sim:toy", env=env)
    clock = [line.split("\t")[0] for line in measured.stdout.splitlines()]
    if "clock.read_latency" not in clock or not re.search(r"^[1-9]\d* points$", measured.stderr, re.M):
        wrong.append(f"measuring: {measured.stdout}{measured.stderr}")
    for bad in (["missing.fathom"], ["--measure", "sim:nonsense"]):
        done = subprocess.run([example, *bad], capture_output=True, text=True, env=env)
        if done.returncode != 1 or bad[-1].split(":")[-1].split(".")[0] not in done.stderr:
            wrong.append(f"{bad}: exit {done.returncode}: {done.stderr}")
    return found


def from_python(path, found, wrong):
    spec = importlib.util.spec_from_file_location("fathom_reader", path)
    reader = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reader)
    run = reader.Run("toy.fathom")
    for key, f in found.items():
        got = run[key]
        if (got.verdict, got.unit) != (f["verdict"], f["unit"]) or not same(f["value"], got.value):
            wrong.append(f"{key}: Python says {got}, the program {f}")
    if run.gpu != "Toy" or len(run) != len(found) or not any(isinstance(f.value, tuple) for f in run):
        wrong.append(f"Python: {run.gpu}, {len(run)} findings, no list among them")
    if "cache.global.l2.size" not in [f.key for f in run.findings("cache.*.size")]:
        wrong.append("Python: a glob finds no size")
    for bad in ("missing.fathom", path):
        try:
            reader.Run(bad)
            wrong.append(f"Python reads {bad}")
        except reader.Error:
            pass


def main():
    fathom, source, build = (os.path.abspath(p) for p in sys.argv[1:4])
    wrong = []
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        stage = f"{scratch}/stage"
        call("meson", "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", stage)
        library = [p for p in glob.glob(f"{stage}/**/libfathom.so.0", recursive=True)]
        config = glob.glob(f"{stage}/**/libfathom.pc", recursive=True)
        if len(library) != 1 or len(config) != 1:
            sys.exit(f"installed are {library} and {config}")
        wrong += visible(library[0], f"{source}/src/lib/fathom.h")
        if "SONAME" not in call("readelf", "-d", library[0]).stdout or "[libfathom.so.0]" not in call("readelf", "-d", library[0]).stdout:
            wrong.append("the soname is not libfathom.so.0")
        flags = ["-I" + os.path.dirname(p) for p in glob.glob(f"{stage}/**/include/fathom.h", recursive=True)] + \
            ["-L" + os.path.dirname(library[0]), "-lfathom"]
        if shutil.which("pkg-config"):
            flags = call("pkg-config", "--cflags", "--libs", "libfathom", env=dict(
                os.environ, PKG_CONFIG_PATH=os.path.dirname(config[0]), PKG_CONFIG_SYSROOT_DIR=stage)).stdout.split()
        call(sys.argv[4], "-std=c11", "-Wall", "-Wextra", "-Werror", f"{source}/doc/libfathom.c", "-o", "example", *flags)
        env = dict(os.environ, LD_LIBRARY_PATH=os.path.dirname(library[0]))
        call(fathom, "run", "-p", "global_cache", "-d", "sim:toy", "-o", "toy.fathom")
        found = from_c(f"{scratch}/example", env, fathom, wrong)
        from_python(glob.glob(f"{stage}/**/fathom.py", recursive=True)[0], found, wrong)
        os.chdir("/")
    sys.exit("\n".join(wrong) or 0)


main()
