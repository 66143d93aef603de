#!/usr/bin/env python3
"""doc/writing-probes.md and the code say the same: directives, dialect names, operators, verdicts, the limit on points."""
import re
import sys

root = sys.argv[1]
read = lambda p: open(root + "/" + p).read()
doc = read("doc/writing-probes.md")
kernel, expr, finding, measure = (read("src/" + p) for p in
                                  ("kernel/kernel.c", "kernel/expr.c", "data/finding.c", "probe/measure.c"))
bad = []


def same(what, code, text):
    if set(code) != set(text):
        bad.append("%s: the code has %s, the document %s" % (what, sorted(set(code) - set(text)), sorted(set(text) - set(code))))


same("directives", re.findall(r'word\(&s, end, "(\w+)"\)', kernel), re.findall(r"#(repeat|if|else|end|include|\w+)\b(?=[^`\n]*`)", doc))
same("own names", re.findall(r'own\(&x\.scope, "(\w+)"', kernel), re.findall(r"`([A-Z]+)` \(", doc))
table = expr[expr.index("binaries[] ="):]
operators = re.search(r"operators of C: `([^`]*)`", doc.replace("\n", " ")).group(1).split()
same("operators", re.findall(r'\{"([^"]+)", \d+\}', table), operators)
same("verdicts", re.findall(r'\[VERDICT_\w+\] = "(\w+)"', finding), re.findall(r"^\| ([A-Z]+) \|", doc, re.M))
same("points", re.findall(r"#define POINTS_MAX (\d+)", measure), re.findall(r"more than (\d+) points", doc))
same("passes", re.findall(r"#define PASSES_MAX (\d+)", measure), re.findall(r"or (\d+) passes", doc))
sys.exit("\n".join(bad) if bad else 0)
