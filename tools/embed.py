#!/usr/bin/env python3
"""Writes a C file with the content of files as struct embedded: embed.py ROOT OUT.c OUT.d PATTERN..."""
import base64
import glob
import hashlib
import os
import sys


def literal(data):
    """C string literals, one a source line, that hold exactly these bytes."""
    out = []
    for line in data.split(b"\n"):
        text = "".join(
            chr(c) if 32 <= c < 127 and c not in b'"\\?' else "\\%03o" % c for c in line)
        out.append('"' + text + '\\n"')
    out[-1] = out[-1][:-3] + '"'  # split() has one piece more than there are newlines
    return "\n\t ".join(out)


def main():
    root, out_c, out_d, patterns = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
    files, folders = set(), set()
    for pattern in patterns:
        files.update(p for p in glob.glob(os.path.join(root, pattern)) if os.path.isfile(p))
        folder = os.path.join(root, os.path.dirname(pattern))
        folders.update(glob.glob(folder))
        folders.update(glob.glob(os.path.dirname(folder)))
    items = sorted((os.path.relpath(p, root).encode(), p) for p in files)
    with open(out_c, "w") as c:
        c.write('/* Written by tools/embed.py. */\n#include "base/embed.h"\n\n')
        c.write("const struct embedded embedded_files[] = {\n")
        for rel, path in items:
            data = open(path, "rb").read()
            digest = base64.b64encode(hashlib.sha256(data).digest())
            c.write("\t{%s,\n\t %s, %d, %s},\n" % (literal(rel), literal(data), len(data), literal(digest)))
        if not items:
            c.write('\t{"", "", 0, ""},\n')
        c.write("};\nconst size_t embedded_count = %d;\n" % len(items))
    with open(out_d, "w") as d:
        deps = sorted(os.path.abspath(p) for p in files | folders)
        d.write("%s: %s\n" % (out_c, " ".join(p.replace(" ", "\\ ") for p in deps)))


main()
