#!/usr/bin/env python3
"""What `make install` and the packages bring: every file at its place, a man page that is whole, and a program that works
from there.

Usage: installed.py BUILD ROOT
"""
import json
import os
import re
import subprocess
import sys
import tempfile

BUILD, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
WANTED = ["bin/fathom", "share/man/man1/fathom.1", "share/bash-completion/completions/fathom", "share/zsh/site-functions/_fathom",
          "share/fish/vendor_completions.d/fathom.fish", "share/fathom/report.schema.json"]
problems = []


def main():
    WANTED.extend(f"share/fathom/{folder}/{name}" for folder in ("gpus", "papers") for name in os.listdir(os.path.join(ROOT, folder)))
    with tempfile.TemporaryDirectory() as staging:
        subprocess.run(["meson", "install", "-C", BUILD, "--no-rebuild", "--quiet"], env=dict(os.environ, DESTDIR=staging), check=True,
                       capture_output=True)
        options = json.loads(subprocess.run(["meson", "introspect", BUILD, "--buildoptions"], check=True, capture_output=True).stdout)
        prefix = staging + next(o["value"] for o in options if o["name"] == "prefix")
        have = {os.path.relpath(os.path.join(folder, name), prefix) for folder, _, names in os.walk(staging) for name in names}
        problems.extend(f"{name} is not installed" for name in WANTED if name not in have)
        problems.extend(f"{name} is installed, and is a program of tests only" for name in have if re.match("bin/(?!fathom$)", name))
        with open(os.path.join(prefix, "share/man/man1/fathom.1"), encoding="utf-8") as f:
            sections = re.findall(r"^\.SH (.*)$", f.read(), flags=re.M)
        problems.extend(f"the man page has no {name}" for name in ("NAME", "SYNOPSIS", "EXIT STATUS", "FILES", "ENVIRONMENT", "SEE ALSO")
                        if name not in sections)
        fathom = os.path.join(prefix, "bin/fathom")
        ran = subprocess.run([fathom, "run", "-d", "sim:" + os.path.join(prefix, "share/fathom/gpus/toy.gpu"), "-p", "barrier"], cwd=staging,
                             check=False, capture_output=True, text=True)
        if ran.returncode or "wrote " not in ran.stderr:
            problems.append(f"the installed program ends with {ran.returncode}: {ran.stderr}")
    print("\n".join(problems + [f"installed: {len(WANTED)} files, {len(problems)} problems"]))
    return 1 if problems else 0


sys.exit(main())
