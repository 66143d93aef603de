#!/usr/bin/env python3
"""The table of PTX instructions in doc/simulator.md, made from src/ptx/ops.def and src/ptx/isa.def.

Usage: isa_table.py ROOT [--check]    --check: exit 1 when the page does not hold what would be written
"""
import os
import re
import sys

BEGIN, END = "<!-- made by tools/isa_table.py -->\n", "<!-- end -->\n"
WIDTH = 8
SM = 90  # of the latest GPU that is described


def names(root, file, macro):
    with open(os.path.join(root, "src", "ptx", file), encoding="utf-8") as f:
        found = re.findall("^" + macro + r'\((?:\w+, )?"([^"]+)"', f.read(), re.MULTILINE)
    return sorted(set(found))


def rows(words):
    return "".join("| " + " | ".join((f"`{w}`" if w else "") for w in (words[k:k + WIDTH] + [""] * WIDTH)[:WIDTH]) + " |\n"
                   for k in range(0, len(words), WIDTH))


def table(root):
    done, missing = names(root, "ops.def", "PTX_OP"), names(root, "isa.def", "PTX_ISA")
    with open(os.path.join(root, "src", "ptx", "isa.def"), encoding="utf-8") as f:
        later = sum(int(sm) > SM for sm in re.findall(r'^PTX_ISA\("[^"]+", (\d+)\)', f.read(), re.MULTILINE))
    head = "|" + " |" * WIDTH + "\n|" + "---|" * WIDTH + "\n"
    return (f"{BEGIN}Executed, {len(done)} of the {len(done) + len(missing) - later} up to sm_{SM}:\n\n{head}{rows(done)}\n"
            f"Not executed, {later} of them from later GPUs. A kernel that has one is refused when it is loaded; other kernels of its module are not:\n\n"
            f"{head}{rows(missing)}{END}")


def main():
    root = sys.argv[1]
    page = os.path.join(root, "doc", "simulator.md")
    with open(page, encoding="utf-8") as f:
        text = f.read()
    before, rest = text.split(BEGIN)
    now = before + table(root) + rest.split(END)[1]
    if "--check" not in sys.argv:
        with open(page, "w", encoding="utf-8") as f:
            f.write(now)
    elif now != text:
        print("doc/simulator.md does not list the instructions of src/ptx/*.def: run tools/isa_table.py .")
        return 1
    return 0


sys.exit(main())
