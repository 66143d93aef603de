#!/usr/bin/env python3
"""The first screen, and what a person types.

Every recorded card has 24 lines of 80 columns, and nothing is wider than the page. Commands to type next work as printed, as do -V and
help COMMAND. Times have a unit.

Usage: face.py FATHOM ROOT
"""
import glob
import json
import lzma
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

FATHOM, ROOT = os.path.abspath(sys.argv[1]), sys.argv[2]
LINES, COMMANDS = 24, 3  # of the screen, and of what `fathom run` adds: what to type next
FEW = 14  # findings at most that the screen lists one by one
problems = []


def run(*words, cwd=None, columns=80, program=FATHOM):
    env = dict(os.environ, COLUMNS=str(columns), NO_COLOR="1")
    return subprocess.run([program, *words], cwd=cwd, env=env, check=False, capture_output=True, text=True, timeout=120)


def expect(good, what):
    if not good:
        problems.append(what)


def first_screen(folder):
    for packed in sorted(glob.glob(os.path.join(ROOT, "tests", "recorded", "*.fathom.xz"))):
        name = os.path.basename(packed)[:-3]
        path = os.path.join(folder, name)
        with lzma.open(packed) as src, open(path, "wb") as out:
            out.write(src.read())
        # What one probe found is a list.
        whole = len(json.loads(run("report", path, "--format", "json").stdout)["findings"]) > FEW
        for columns in (80, 65, 40):
            done = run("report", path, "--format", "summary", columns=columns)
            lines = done.stdout.splitlines()
            expect(done.returncode == 0 and lines, f"{name}: no first screen: {done.stderr}")
            expect(columns < 80 or len(lines) <= LINES - COMMANDS, f"{name}: {len(lines)} lines:\n{done.stdout}")
            expect(columns < 80 or not whole or re.search("^ +size +per +cycles ", done.stdout, flags=re.M), f"{name}: the memories are no table:\n{done.stdout}")
            for line in lines:
                expect(len(line) <= columns, f"{name}: wider than {columns} columns: {line}")
            expect(not whole or not re.search(r"\d\.\d{3}|e[+-]\d", done.stdout), f"{name}: more than three digits:\n{done.stdout}")


def next_commands(folder):
    """They are typed in a shell as printed, by a program of an odd name and for a file of an odd name."""
    os.symlink(FATHOM, os.path.join(folder, "my fathom"))
    done = run("run", "-d", "sim:toy", "-p", "clock", "-o", "it's one.fathom", cwd=folder, program="./my fathom")
    expect(done.returncode == 0, f"run: {done.stderr}")
    typed = re.findall(r"^  [a-z ]+?  +('\./my fathom' .*)$", done.stdout, flags=re.M)
    expect(len(typed) == COMMANDS, f"{len(typed)} commands to type next:\n{done.stdout}")
    for line in typed:
        shell = subprocess.run(["sh", "-c", line], cwd=folder, check=False, capture_output=True, text=True, timeout=60)
        expect(shell.returncode == 0 and (shell.stdout or os.path.exists(os.path.join(folder, "it's one.html"))), f"`{line}` does not work as printed: {shell.stderr}")
    done = run("run", "-p", "nonsense", cwd=folder, program="./my fathom")
    expect("`./my fathom list probes`" in done.stderr, f"an error tells a command that was not called so: {done.stderr}")


def explained(folder):
    """A key, a glob and words; with a run also the reason, and a command that measures only this."""
    card = os.path.join(folder, "h200.fathom")
    one = run("explain", "shared.latency").stdout
    expect(all(part in one for part in ("means:", "probe: shared_memory", "what can fool it:", "beside it")), f"explain:\n{one}")
    listed = run("explain", "L2").stdout
    expect("cache.<p>.<l>.size" in listed and "shared.banks" not in listed, f"explain L2:\n{listed}")
    done = run("explain", "memory.global.latency", card)
    for part in ("memory.global.latency: ", "because:", "measure only this:", "footprint"):
        expect(part in done.stdout, f"explain KEY FILE does not say {part!r}:\n{done.stdout}")
    done = run("explain", "cache.constant.l1.sets", card)
    expect("which lines miss" in done.stdout and "@" in done.stdout, f"a finding about sets is not shown with its own figure:\n{done.stdout}")
    with_words = run("explain", "memory", "bandwidth", card).stdout
    expect("memory.global.bandwidth: " in with_words and "shared.latency" not in with_words, f"explain WORDS FILE:\n{with_words}")
    done = run("explain", "memory.global.4.alone", card)  # a name that the file still has
    expect("memory.global.4.one_warp: " in done.stdout, f"explain of a key's old name:\n{done.stdout}{done.stderr}")
    for columns in (40, 80):
        for line in run("explain", "cache.*", card, columns=columns).stdout.splitlines():
            expect(len(line) <= columns, f"explain: wider than {columns} columns: {line}")
    expect(run("explain", "no.such.key").returncode == 2, "explain of a key that there is not")
    keys = run("list", "keys").stdout
    expect("No probe concludes these" not in keys or re.search(r"^[a-z0-9_.]+ ", keys.split("No probe concludes these")[1], flags=re.M), "keys without a probe")


def narrow():
    """Lists and help on a terminal: broken between words; to another program a row of a list is a line."""
    pages = [("list",), *(("list", what) for what in ("devices", "probes", "keys", "gpus", "papers")), ("help",),
             *(("help", verb) for verb in ("list", "run", "report", "explain", "export", "sim", "exec", "predict"))]
    for columns in (60, 80):
        for words_ in pages:
            shown = run(*words_, columns=columns).stdout
            expect(shown, f"{words_}: nothing at {columns} columns")
            for line in re.sub("\nExamples:\n.*", "", shown, flags=re.S).splitlines():
                expect(len(line) <= columns, f"{words_}: wider than {columns} columns: {line}")
            whole = run(*words_, columns=0).stdout
            expect(re.sub(r"\s+", "", shown) == re.sub(r"\s+", "", whole), f"{words_}: other words at {columns} columns")
    expect(len(run("list", "papers", columns=0).stdout.splitlines()) == len(glob.glob(os.path.join(ROOT, "papers", "*.paper"))), "a paper is more than a line")


def words():
    expect(run("-V").stdout == run("--version").stdout != "", "-V is not --version")
    made = subprocess.run(["sh", os.path.join(ROOT, "tools", "build_id.sh"), "1.2.3", "/"], check=True, capture_output=True, text=True)
    expect(made.stdout == "1.2.3\n", f"without git a build is {made.stdout!r}")
    expect(re.fullmatch(r"fathom \d+\.\d+\.\d+(\+[0-9a-f]{7,}(-changed)?)?\n", run("-V").stdout), f"-V: {run('-V').stdout!r}")
    expect(run("help", "run").stdout == run("run", "--help").stdout != "", "`help run` is not `run --help`")
    expect(run("help", "rnu").returncode == 2, "help of a command that there is not")
    for text, good in (("90s", True), ("1.5m", True), ("2h", True), ("500ms", True), ("90", True), ("9x", False), ("s", False),
                       ("-1s", False), ("1e9h", False)):
        done = run("run", "-d", "sim:no-such", "--time-limit", text)
        expect(done.returncode == (3 if good else 2) or (good and "no-such" in done.stderr), f"--time-limit {text}: {done.stderr}")


def by_another_build(folder):
    """Whoever is shown what another build concluded is told so, once, wherever it is shown; and no longer when this build has concluded."""
    path, page = os.path.join(folder, "older.fathom"), os.path.join(folder, "older.html")
    expect(run("run", "-d", "sim:toy", "-p", "barrier", "-o", path).returncode == 0, "no run of a barrier")
    here = run("-V").stdout.split()[1]

    def told():
        shown = {
            "text": run("report", path, columns=400), "summary": run("report", path, "--format", "summary", columns=400),
            "csv": run("report", path, "--format", "csv"), "markdown": run("report", path, "--format", "markdown"),
            "lemeire": run("report", path, "--format", "lemeire", columns=400), "html": run("report", path, "--html", page),
            "explain": run("explain", "barrier.latency", path), "export": run("export", path, "--to", "latencies"),
            "compare": run("compare", path, path),
        }
        with open(page, encoding="utf-8") as f:
            html = f.read()
        for name, done in shown.items():
            text = done.stdout + done.stderr + (html if name == "html" else "")
            yield name, text.count(f"concluded by fathom 0.0.1, and this is fathom {here}")
        report = json.loads(run("report", path, "--format", "json").stdout)
        yield "json", report["shown_by"] == here and {here: 0, "0.0.1": 1}[report["concluded"]]

    for name, times in told():
        expect(times == 0, f"{name}: what this build concluded is said to be another's")
    file = sqlite3.connect(path)
    file.execute("UPDATE run SET fathom = '0.0.1'")
    file.commit()
    file.close()
    for name, times in told():
        expect(times == (2 if name == "compare" else 1), f"{name}: told {times} times that another build concluded")
    again = run("infer", path).stdout
    expect("was concluded by fathom 0.0.1" in again and here in again, f"infer: {again}")
    for name, times in told():
        expect(times == 0, f"{name}: what this build concluded anew is said to be another's")
    expect("0.0.1" not in run("infer", path).stdout, "infer twice")


with tempfile.TemporaryDirectory() as scratch:
    first_screen(scratch)
    next_commands(scratch)
    explained(scratch)
    by_another_build(scratch)
narrow()
words()
print("\n".join(problems + [f"face: {len(problems)} problems"]))
sys.exit(1 if problems else 0)
