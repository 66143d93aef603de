#!/usr/bin/env python3
"""Whether some test lays each part of each paper beside a run.

Usage: check_parts.py FOLDER PART PAPER:LEAST:MOST,... [PART PAPER:LEAST:MOST,... ...]: the papers, and what check_paper.py is given.
"""
import glob
import os
import re
import sys

asked = {(paper.split(":")[0], part) for part, papers in zip(sys.argv[2::2], sys.argv[3::2]) for paper in papers.split(",")}
there = set()
for path in glob.glob(os.path.join(sys.argv[1], "*.paper")):
    with open(path, encoding="utf-8") as f:
        there |= {(os.path.basename(path)[:-len(".paper")], gpu) for gpu in re.findall(r"^gpu = (\S+)$", f.read(), re.M) if gpu != "-"}
for paper, part in sorted(there - asked):
    print(f"no test asks {part} of {paper}")
for paper, part in sorted(asked - there):
    print(f"{paper} has no part {part}")
sys.exit(there != asked or not there)
