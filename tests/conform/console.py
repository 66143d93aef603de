#!/usr/bin/env python3
"""Runs every ```console block of the documents and compares what it shows with what comes out. A line `...` stands for any lines.
Files that a page shows (```ptx NAME) are there, and recorded runs under their names.

Usage: console.py FATHOM ROOT [--write]
--write puts what comes out in the place of what follows each command without a `...`.
"""
import glob
import lzma
import os
import re
import subprocess
import sys
import tempfile

FATHOM, ROOT = os.path.abspath(sys.argv[1]), sys.argv[2]
BLOCK = re.compile(r"```console\n(.*?)```", re.S)
problems, ran = [], 0


def prepare(folder, text):
    os.symlink(FATHOM, os.path.join(folder, "fathom"))
    for name, body in re.findall(r"```ptx (\S+)\n(.*?)```", text, flags=re.S):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(body)
    for packed in glob.glob(os.path.join(ROOT, "tests", "recorded", "*.fathom.xz")):
        name = os.path.basename(packed)[:-3]
        if name in text:
            with lzma.open(packed) as src, open(os.path.join(folder, name), "wb") as out:
                out.write(src.read())


def run(command, folder):
    env = dict(os.environ, COLUMNS="80", NO_COLOR="1", PATH=folder + os.pathsep + os.environ["PATH"])
    done = subprocess.run(["sh", "-c", command], cwd=folder, env=env, check=False, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout.splitlines(), done.stderr


def steps(block):
    """[(command, [lines that follow])]"""
    out = []
    for line in block.splitlines():
        if line.startswith("$ "):
            out.append((line[2:], []))
        elif out:
            out[-1][1].append(line)
    return out


def shows(want, got):
    """Each piece between `...` lines stands in the output, in this order."""
    pieces, at = [[]], 0
    for line in want:
        if line.strip() == "...":
            pieces.append([])
        else:
            pieces[-1].append(line)
    if len(pieces) == 1:
        return want == got
    for number, piece in enumerate(pieces):
        places = [i for i in range(at, len(got) - len(piece) + 1) if got[i:i + len(piece)] == piece]
        if number == 0:
            places = [i for i in places if i == 0]
        if not places:
            return False
        at = places[0] + len(piece)
    return not pieces[-1] or at == len(got)


def check(page, write):
    global ran
    path = os.path.join(ROOT, page)
    with open(path, encoding="utf-8") as f:
        text = f.read()
    with tempfile.TemporaryDirectory() as folder:
        prepare(folder, text)

        def one(match):
            global ran
            made = []
            for command, want in steps(match.group(1)):
                ran += 1
                code, got, err = run(command, folder)
                if code:
                    problems.append(f"{page}: `{command}` ends with {code}: {err.strip()}")
                elif want and not shows(want, got) and not write:
                    problems.append(f"{page}: `{command}` does not print what the page shows; it prints:\n" + "\n".join(got))
                made += ["$ " + command] + (want if write and "..." in want else got if write else want)
            return "```console\n" + "\n".join(made) + "\n```"

        made = BLOCK.sub(one, text)
    if write and made != text:
        with open(path, "w", encoding="utf-8") as f:
            f.write(made)


pages = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"] + sorted(
    os.path.relpath(p, ROOT) for p in glob.glob(os.path.join(ROOT, "doc", "**", "*.md"), recursive=True))
for name in pages:
    check(name, "--write" in sys.argv)
if ran < 5:
    problems.append(f"only {ran} commands were found: this test reads nothing")
print("\n".join(problems + [f"console: {ran} commands, {len(problems)} problems"]))
sys.exit(1 if problems else 0)
