#!/usr/bin/env python3
"""Finds the probes: every folder X of probes/ with a file X.c defines `const struct probe probe_X`.

probe_table.py list ROOT             prints their .c files, relative to probes/
probe_table.py table ROOT OUT DEPS   writes the table, and in DEPS what it depends on
"""
import os
import sys


def folders(root):
    top = os.path.join(root, "probes")
    return [d for d in sorted(os.listdir(top)) if os.path.isfile(os.path.join(top, d, d + ".c"))]


def sources(root):
    top = os.path.join(root, "probes")
    return [d + "/" + f for d in folders(root) for f in sorted(os.listdir(os.path.join(top, d))) if f.endswith(".c")]


def table(root, out, deps):
    names = folders(root)
    with open(out, "w") as c:
        c.write('/* Written by tools/probe_table.py. */\n#include "probe/probe.h"\n\n')
        for n in names:
            c.write("extern const struct probe probe_%s;\n" % n)
        c.write("\nconst struct probe *const probe_table[] = {\n")
        for n in names:
            c.write("\t&probe_%s,\n" % n)
        c.write("\tNULL,\n};\nconst size_t probe_count = %d;\n" % len(names))
    top = os.path.join(root, "probes")
    # folders, too: a new file or a new probe changes them
    watched = [top] + [os.path.join(top, d) for d in sorted(os.listdir(top)) if os.path.isdir(os.path.join(top, d))]
    with open(deps, "w") as d:
        d.write("%s: %s\n" % (out, " ".join(p.replace(" ", "\\ ") for p in watched)))


if sys.argv[1] == "list":
    print("\n".join(sources(sys.argv[2])))
else:
    table(*sys.argv[2:])
