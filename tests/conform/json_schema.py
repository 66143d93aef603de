#!/usr/bin/env python3
"""JSON reports are what the installed schema says.

Usage: json_schema.py FATHOM SCHEMA RECORDINGS SAMPLE.json

RECORDINGS holds X.fathom.xz. The sample has series; those of the recordings are millions of words and are left out.
"""
import glob
import json
import lzma
import os
import subprocess
import sys
import tempfile

MOST = 500 * 1000  # bytes of a report without series


def complaints(checker, name, report):
    return [f"{name}: {'/'.join(map(str, e.absolute_path))}: {e.message[:200]}" for e in checker.iter_errors(report)][:5]


def spoilt(report):
    """Reports that the schema has to refuse."""
    yield "no findings", {k: v for k, v in report.items() if k != "findings"}
    for field, value in (("verdict", "SURE"), ("value", {}), ("lo", "1"), ("evidence", None)):
        yield field, dict(report, findings=[dict(report["findings"][0], **{field: value})])
    yield "a reason that is missing", dict(report, findings=[dict(report["findings"][0], verdict="BOUND", because="")])


def main():
    try:
        import jsonschema
        jsonschema.Draft202012Validator
    except (ImportError, AttributeError):
        print("skipped: python3-jsonschema 4 is not installed")
        return 77
    fathom, schema, recordings, sample = sys.argv[1:]
    with open(schema, encoding="utf-8") as f:
        schema = json.load(f)
    jsonschema.Draft202012Validator.check_schema(schema)
    checker = jsonschema.Draft202012Validator(schema)
    with open(sample, encoding="utf-8") as f:
        report = json.load(f)
    wrong, reports = complaints(checker, "sample", report), 1
    wrong += [f"the schema takes a report with a wrong field: {name}" for name, bad in spoilt(report) if checker.is_valid(bad)]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.fathom")
        for packed in sorted(glob.glob(os.path.join(recordings, "*.fathom.xz"))):
            with open(path, "wb") as f:
                f.write(lzma.open(packed).read())
            text = subprocess.run([fathom, "report", path, "--format", "json"], check=True, capture_output=True).stdout
            name = os.path.basename(packed)
            wrong += complaints(checker, name, json.loads(text))
            if len(text) > MOST:
                wrong.append(f"{name}: {len(text)} bytes of JSON, at most {MOST}")
            reports += 1
    print(f"{reports} reports, {len(wrong)} complaints", *wrong, sep="\n")
    return 1 if wrong or reports < 2 else 0


sys.exit(main())
