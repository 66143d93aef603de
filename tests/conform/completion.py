#!/usr/bin/env python3
"""Completion in the real shells: a line is typed at a terminal with a tab, and what the shell makes of it is read. A shell that this
machine does not have is skipped.

Usage: completion.py FATHOM
"""
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

FATHOM = os.path.abspath(sys.argv[1])
# What is typed, and what it has to become.
LINES = [("fathom expl", "fathom explain "), ("fathom run -d sim:gtx28", "fathom run -d sim:gtx280"),
         ("fathom run -p constant_ca", "fathom run -p constant_cache"), ("fathom report car", "fathom report card.fathom"),
         ("fathom report card.fathom --format lem", "fathom report card.fathom --format lemeire"),
         ("fathom sim k.ptx --gpu hd79", "fathom sim k.ptx --gpu hd7970"), ("fathom reproduce wong", "fathom reproduce wong2010")]
problems, said = [], []


def plain(text):
    return re.sub(r"\x1b\[[?0-9;]*[a-zA-Z]|\x1b[=>]|\r|\x07", "", text)


def typed(command, setup, folder, env):
    """What the terminal shows after each line and a tab."""
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execvpe(command[0], command, env)

    def read(until, seconds=20):
        text, end = "", time.time() + seconds
        while time.time() < end and until not in plain(text):  # shells colour what they show, within words
            if select.select([fd], [], [], 0.2)[0]:
                try:
                    text += os.read(fd, 65536).decode(errors="replace")
                except OSError:
                    break
        return plain(text)

    os.write(fd, f"{setup}; echo rea''dy\n".encode())
    if "ready" not in read("ready"):
        problems.append(f"{command[0]}: does not start")
    shown = []
    for line, want in LINES:
        os.write(fd, b"\x15" + line.encode() + b"\t")
        shown.append(read(want[len(line.rsplit(" ", 1)[0]) + 1:].strip()))
        os.write(fd, b"\x15")
    os.write(fd, b"exit\n")
    os.close(fd)
    os.waitpid(pid, 0)
    return shown


with tempfile.TemporaryDirectory() as folder:
    os.symlink(FATHOM, os.path.join(folder, "fathom"))
    for name in ("card.fathom", "carton.txt", "k.ptx"):
        with open(os.path.join(folder, name), "w", encoding="utf-8"):
            pass
    scripts = {}
    for shell in ("bash", "zsh", "fish"):
        scripts[shell] = os.path.join(folder, "_fathom." + shell)
        with open(scripts[shell], "w", encoding="utf-8") as f:
            f.write(subprocess.run([FATHOM, "--completion", shell], check=True, capture_output=True, text=True).stdout)
    env = dict(os.environ, PATH=folder + os.pathsep + os.environ["PATH"], HOME=folder, TERM="xterm", PS1="> ", COLUMNS="200", LC_ALL="C.UTF-8")
    shells = {"bash": (["bash", "--norc", "--noprofile", "-i"], f"source {scripts['bash']}"),
              "zsh": (["zsh", "-f", "-i"], f"autoload -U compinit; compinit -u -D; _fathom() {{ source {scripts['zsh']} }}; compdef _fathom fathom")}
    for shell, (command, setup) in shells.items():
        if not shutil.which(shell):
            said.append(f"{shell} is not here: skipped")
            continue
        for (line, want), shown in zip(LINES, typed(command, setup, folder, env)):
            if want.strip() not in shown:
                problems.append(f"{shell}: '{line}' and a tab becomes {shown!r}, not '{want}'")
    if shutil.which("fish"):
        for line, want in LINES:
            done = subprocess.run(["fish", "--no-config", "-c", f"source {scripts['fish']}; complete -C '{line}'"], cwd=folder, env=env,
                                  check=False, capture_output=True, text=True, timeout=60)
            offered = [o.split("\t")[0] for o in done.stdout.splitlines()]
            if want.split(" ")[-1 if not want.endswith(" ") else -2] not in offered:
                problems.append(f"fish: '{line}' offers {offered}, not '{want}': {done.stderr}")
    else:
        said.append("fish is not here: skipped")
print("\n".join(said + problems + [f"completion: {len(problems)} problems"]))
sys.exit(1 if problems else 0)
