#!/usr/bin/env python3
"""Every field of the JSON report is told in doc/report-json.md.

Usage: json_documented.py REPORT.json DOCUMENT.md
"""
import json
import re
import sys

FREE = {"p", "count"}  # objects whose fields are names of parameters and classes


def fields(value):
    if isinstance(value, list):
        for item in value:
            yield from fields(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            yield name
            if name not in FREE:
                yield from fields(item)


with open(sys.argv[1], encoding="utf-8") as f:
    used = set(fields(json.load(f)))
with open(sys.argv[2], encoding="utf-8") as f:
    text = f.read()
told = set(re.findall(r"`(?:\w+\.)?(\w+)`", text)) | set(re.findall(r'"(\w+)":', text))
missing = sorted(used - told)
print(f"{len(used)} fields, {len(missing)} not told", *missing)
sys.exit(1 if missing or not used else 0)
