#!/usr/bin/env python3
"""Lays predicted cycles beside a card's: silicon_predict.py FATHOM RUN.fathom[.xz] CARD.tsv [--all] [--markdown] [--seen]
[--median PERCENT] [NAME...]

h200.fathom.xz holds the findings of a run of an H200 on 29 November 2026, without its series. Launches follow the same one, as on the card. A third of the kernels, as silicon_errors.py chooses them, is held out: counted, and
named only with --all; --seen leaves them out. The last line says by which factor the model errs beyond what findings and data
leave open, as the 95th percentile over the seen kernels. It also says how many of each kernel's intervals hold with the factor of the
others.

Exit code 1: fewer than 90 % of the intervals hold, or the median error is larger than --median.
"""
import concurrent.futures
import json
import lzma
import os
import re
import subprocess
import sys
import tempfile

from silicon_errors import PAGE_ROWS, held_out, summary

HERE = os.path.dirname(os.path.abspath(__file__))
TIMES_BYTES = 32  # of a block
HEAD = """# Predicted cycles beside a card's

`fathom predict --warm` for the kernels of `tests/silicon`, from a run file of one H200, beside the cycles of another.
`make silicon` makes this page. Nothing here was measured for these kernels.
"""


def sm_count(fathom, run):
    text = subprocess.run([fathom, "report", run, "--format", "json"], check=True, capture_output=True, text=True).stdout
    return json.loads(text)["device"]["sm_count"]


def argument(word):
    kind, _, rest = word.partition(":")
    if kind in ("index", "sorted"):
        return f"buf:{4 * int(rest.split(':')[0])}"
    return "buf:" + rest if rest else word


def configurations(sms):
    with open(os.path.join(HERE, "kernels.txt"), encoding="utf-8") as f:
        for text in f:
            word = text.split("#")[0].split()
            if not word:
                continue
            grid = re.sub(r"(\d+\*)?SM", lambda m: str(sms * int((m.group(1) or "1*")[:-1])), word[2])
            blocks = 1
            for n in grid.split(","):
                blocks *= int(n)
            yield word[0], word[1], grid, word[3], [f"buf:{TIMES_BYTES * blocks}"] + [argument(a) for a in word[4:]]


def predict(fathom, run, configuration):
    kernel, grid, block, arguments = configuration[1:]
    line = [fathom, "predict", os.path.join(HERE, "kernels", kernel + ".ptx"), "--grid", grid, "--block", block, "--from", run,
            "--warm", "--format", "json"]
    for a in arguments:
        line += ["--arg", a]
    done = subprocess.run(line, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{configuration[0]}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def measured(path):
    with open(path, encoding="utf-8") as f:
        rows = [line.split("\t") for line in f.read().splitlines()]
    return {w[0]: (float(w[2]), float(w[2]) / (float(w[5]) * 1e6)) for w in rows if len(w) > 6 and not w[0].startswith("#")}


class Row:
    """One configuration: predicted beside measured."""

    def __init__(self, configuration, p, real):
        self.name, self.kernel = configuration[:2]
        self.cycles, seconds = real
        self.error = p["kernel_seconds"] / seconds - 1
        self.inside = p["kernel_lo"] <= seconds and (p["kernel_hi"] is None or seconds <= p["kernel_hi"])
        factor = p["model_factor"]
        self.needs = max(1, p["kernel_lo"] * factor / seconds, seconds * factor / p["kernel_hi"] if p["kernel_hi"] else 1)
        self.predicted = self.cycles * (1 + self.error)
        self.ends = p["kernel_lo"] / seconds, p["kernel_hi"] / seconds if p["kernel_hi"] else float("inf")
        self.bound = p["bound"]
        self.open = any("data decide" in u or "no finding tells" in u for u in p["unknown"])


def quantile(values):
    v = sorted(values)
    return v[min(len(v) - 1, int(0.95 * len(v)))]


def calibration(rows):
    """The factor by all, and how many intervals hold when each kernel's comes from the others."""
    hold = 0
    for kernel in sorted({r.kernel for r in rows}):
        others = quantile([r.needs for r in rows if r.kernel != kernel])
        hold += sum(r.needs <= others for r in rows if r.kernel == kernel)
    return quantile([r.needs for r in rows]), hold


def page(rows, markdown):
    rows = rows[:PAGE_ROWS] if markdown else rows
    if markdown:
        print("\n| configuration | card, cycles | predicted | error | interval | bound |\n|---|---:|---:|---:|---:|---|")
    for r in rows:
        mark = (" (held out)" if held_out(r.kernel) else "") + (", data decide" if r.open else "")
        ends = f"{r.cycles * r.ends[0]:.0f} to {r.cycles * r.ends[1]:.0f}" + ("" if r.inside else ", outside")
        if markdown:
            print(f"| {r.name}{mark} | {r.cycles:.0f} | {r.predicted:.0f} | {100 * r.error:+.1f} % | {ends} | {r.bound} |")
        else:
            print(f"{r.name + mark:38} {r.cycles:9.0f} {r.predicted:9.0f} {100 * r.error:+7.1f} %  {ends}  {r.bound}")


def compare(fathom, run, card, names, options):
    real = measured(card)
    todo = [c for c in configurations(sm_count(fathom, run))
            if (not names or c[0] in names) and not ("--seen" in options and held_out(c[1]))]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        rows = [Row(c, p, real[c[0]]) for c, p in zip(todo, pool.map(lambda c: predict(fathom, run, c), todo))]
    rows.sort(key=lambda r: -abs(r.error))
    seen = [r for r in rows if not held_out(r.kernel)]
    end = "  " if "--markdown" in options else ""
    if "--markdown" in options:
        print(HEAD)
    for what, some in (("seen while tuning", seen), ("held out", [r for r in rows if held_out(r.kernel)]), ("all", rows)):
        print(f"{summary(what, [r.error for r in some])}; {sum(r.inside for r in some)} of {len(some)} intervals hold{end}")
    page(rows if "--all" in options else seen, "--markdown" in options)
    if seen:
        factor, hold = calibration(seen)
        print(f"\nof the seen ones, the 95th percentile of the model's own factor is {factor:.2f}; with that of the other kernels "
              f"{hold} of {len(seen)} intervals hold")
    median = sorted(abs(r.error) for r in rows)[len(rows) // 2]
    return 1 if sum(r.inside for r in rows) < 0.9 * len(rows) or 100 * median > options.get("--median", 1e9) else 0


def main(args):
    options, names = {}, []
    fathom, run, card = args[:3]
    rest = iter(args[3:])
    for a in rest:
        if a == "--median":
            options[a] = float(next(rest))
        elif a.startswith("--"):
            options[a] = True
        else:
            names.append(a)
    with tempfile.TemporaryDirectory() as folder:
        if run.endswith(".xz"):
            plain = os.path.join(folder, "card.fathom")
            with lzma.open(run) as packed, open(plain, "wb") as f:
                f.write(packed.read())
            run = plain
        return compare(fathom, run, card, names, options)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
