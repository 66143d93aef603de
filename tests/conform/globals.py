#!/usr/bin/env python3
"""No mutable globals: every writable symbol of the rooms' libraries is named here, with its reason.

Usage: globals.py BUILD
"""
import os
import shutil
import subprocess
import sys

ALLOWED = {
    "interrupt_flag": "a signal handler has no other way to tell",
    "hook": "base/mem.c: a test makes the n-th allocation fail",
    "exec_process": "src/exec: CUDA's driver interface carries no handle of the process's state",
    "exec_thread": "src/exec: nor of the calling thread's context",
    "cudart_table": "src/exec: what a program registers before main",
    "cudart_calls": "src/exec: between <<<...>>> and the call it belongs to",
    "cudart_latest": "src/exec: cudaGetLastError",
}

LINKER = ("_", "completed.")  # of shared objects


def symbols(archive):
    """(object, section, name) of every variable in a writable section; relocated constants are not writable."""
    text = subprocess.run(["objdump", "-t", archive], check=True, capture_output=True, text=True).stdout
    member = archive
    for line in text.splitlines():
        if ":     file format" in line:
            member = line.split(":")[0]
            continue
        parts = line.split()
        if len(parts) < 5 or "O" not in parts[1:-3]:
            continue
        section, name = parts[-3], parts[-1]
        if section == "*COM*" or (section.startswith((".bss", ".data", ".tbss", ".tdata")) and
                                  not section.startswith(".data.rel.ro")):
            yield member, section, name


def main():
    if not shutil.which("objdump"):
        print("objdump is not installed: not checked")
        return 77
    archives = []
    for top in ("src", "probes"):
        for folder, _, names in os.walk(os.path.join(sys.argv[1], top)):
            archives += [os.path.join(folder, n) for n in names if n.endswith(".a") or ".so" in n and not n.endswith((".p", ".symbols"))]
    bad = []
    for archive in sorted(archives):
        for member, section, name in symbols(archive):
            if name not in ALLOWED and not name.startswith(LINKER):
                bad.append(f"{os.path.basename(archive)}({os.path.basename(member)}): {name} in {section} is writable")
    print("\n".join(bad + [f"globals: {len(archives)} libraries, {len(bad)} writable symbols that nobody allowed"]))
    return 1 if bad or not archives else 0


if __name__ == "__main__":
    sys.exit(main())
