#!/usr/bin/env python3
"""The program as it is built has what makes a fault harder to use. It is read from the program and from its objects.

Usage: hardened.py PROGRAM BUILD
"""
import os
import shutil
import subprocess
import sys


def readelf(option, path):
    return subprocess.run(["readelf", option, "-W", path], check=True, capture_output=True, text=True).stdout


def missing(program):
    """One line for each thing that the program lacks."""
    header, segments = readelf("-h", program), readelf("-l", program)
    dynamic, symbols = readelf("-d", program), readelf("--dyn-syms", program)
    stack = [line.split() for line in segments.splitlines() if "GNU_STACK" in line]
    checked = {word.split("@")[0] for word in symbols.split() if "_chk@" in word}
    holds = {
        "a position-independent executable": " DYN " in header,
        "a relocation table that is read-only (RELRO)": "GNU_RELRO" in segments,
        "relocations bound at start (now)": "NOW" in dynamic,
        "a stack that cannot be executed": bool(stack) and all("E" not in words[6] for words in stack),
        "text without relocations": "TEXTREL" not in dynamic,
        "libraries found by the system alone (no RPATH)": "RPATH" not in dynamic and "RUNPATH" not in dynamic,
        "stack protector": "__stack_chk_fail@" in symbols,
        "FORTIFY": len(checked) > 2,
    }
    return [f"{os.path.basename(program)} lacks {name}" for name, held in holds.items() if not held]


def without_cet(path):
    """The objects of an archive or file without both marks of CET; the C library's own start-up files have none on Debian."""
    bad, name, marked = [], path, True
    for line in readelf("-n", path).splitlines() + ["File: "]:
        if line.startswith("File: "):
            bad += [] if marked else [f"{name} lacks CET"]
            name, marked = line[6:], False
        elif "IBT" in line and "SHSTK" in line:
            marked = True
    return bad


def main():
    program, build = sys.argv[1:3]
    if not shutil.which("readelf"):
        print("readelf is not installed: not checked")
        return 77
    bad = missing(program)
    archives = []
    x86 = "X86-64" in readelf("-h", program)
    if x86:
        for top in ("src", "probes"):
            for folder, _, names in os.walk(os.path.join(build, top)):
                archives += [os.path.join(folder, n) for n in names if n.endswith(".a")]
        for archive in sorted(archives):
            bad += without_cet(archive)
    print("\n".join(bad + [f"hardened: {len(archives)} libraries, {len(bad)} things missing"]))
    return 1 if bad or x86 and not archives else 0


if __name__ == "__main__":
    sys.exit(main())
