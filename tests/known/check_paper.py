#!/usr/bin/env python3
"""Lays papers whole beside one run of a simulated GPU. No value may differ, and so many have to agree.

Usage: check_paper.py FATHOM PART PAPER:LEAST:MOST,... [COMMAND ...]

PART is a simulated GPU of each PAPER. LEAST values agree, at most MOST are explained by a deviation. COMMAND measures the GPU into a run
file, whose name stands for its argument RUN, and has to succeed. Without it the one PAPER is reproduced.
"""
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

# What a device says of itself, in groups that are told wrong together: so many times as much. A number that comes from there, and not from what
# was measured, follows. Some may. The run time of a launch, as Lemeire has it, counts in cycles of the clock that is told. And launches are made
# of so many warps and of blocks for so many SMs, whose work a rate counts.
TOLD = ((1.1, ("clock_hz",), lambda row: "pipeline." in row["key"]),
        (2, ("shared_per_block", "registers_per_block", "constant_bytes", "memory_bytes", "max_threads_per_block", "max_threads_per_sm"), lambda row: False),
        (2, ("sm_count", "warp_size"), lambda row: row["finding"]["unit"] != "count"))


def laid_beside(fathom, paper, part, run, more=()):
    done = subprocess.run([fathom, "reproduce", paper, "--part", part, "--from", run, "--format", "json", *more], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"reproduce {paper} ended with {done.returncode}: {done.stderr.strip()}")
    return [r for p in json.loads(done.stdout)["parts"] if p["gpu"] == part for r in p["rows"]], done


def answer(row):
    found = row["finding"]
    return found["value"] if found and found["verdict"] in ("MEASURED", "LIKELY") else None


def follows(a, b, times):
    """Whether a became b where something was told so many times as large: a number by at least half of that, in logs."""
    if isinstance(a, (int, float)) and isinstance(b, (int, float)) and a * b > 0:
        return max(a / b, b / a) > times ** 0.5
    return a != b


def followers(before, after, times):
    """Rows whose value is another one, and measured all the same, after the device has told something else."""
    return [(a, b) for a, b in zip(before, after) if None not in (answer(a), answer(b)) and follows(answer(a), answer(b), times)]


def told(fathom, papers, part, run, rows, here):
    """What a description says is no result: the number of rows that follow what the device tells, and not what was measured."""
    count = 0
    for times, group, may_follow in TOLD:
        lie = os.path.join(here, "lie.fathom")
        shutil.copy(run, lie)
        with sqlite3.connect(lie) as file:
            file.execute("update device set " + ", ".join(f"{name} = {name} * {times}" for name in group))
        file.close()
        done = subprocess.run([fathom, "infer", lie], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"infer ended with {done.returncode}: {done.stderr.strip()}")
        for paper in papers:
            after, _ = laid_beside(fathom, paper, part, lie)
            for a, b in followers(rows[paper], after, times):
                if may_follow(a):
                    continue
                print(f"told: {a['where']}, {a['row']}: {a['key']} is {answer(a)}, and {answer(b)} where the device says {times} times its {', '.join(group)}")
                count += 1
    return count


def one_paper(paper, part, rows, done, least, most):
    count = {result: sum(r["result"] == result and not r["repeated"] for r in rows) for result in ("agrees", "explained", "differs")}
    # A key for which nothing was found is a question that was lost.
    lost = [r for r in rows if r["key"] and r["result"] == "not asked"]
    for r in rows:
        if r["result"] in ("differs", "explained") or r in lost:
            found = r["finding"] or {"verdict": "no finding", "value": None, "because": ""}
            print(f"{r['result']}: {r['where']}, {r['row']}: {r['key']} is {r['published']} {r['published_unit']}, "
                  f"ours {found['verdict']} {found['value']}: {found['because']}")
    # A deviation that is not needed any more has to go.
    stale = [r for r in rows if r["deviation"] and r["result"] == "agrees"]
    for r in stale:
        print(f"stale deviation: {r['where']}, {r['row']}: {r['key']}")
    # Every numbered figure that the paper file names is drawn.
    missing = [line for line in done.stderr.splitlines() if "was not drawn" in line]
    print("\n".join(missing), end="\n" if missing else "")
    print(f"{paper} on {part}: {count['agrees']} agree, {count['explained']} are explained, {count['differs']} differ")
    return bool(count["differs"] or lost or stale or missing) or count["agrees"] < least or count["explained"] > most or done.returncode


def main():
    fathom, part, command = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[4:]
    papers = {name: (int(least), int(most)) for name, least, most in (p.split(":") for p in sys.argv[3].split(","))}
    with tempfile.TemporaryDirectory() as here:
        run, figures = os.path.join(here, "run.fathom"), os.path.join(here, "figures")
        if not command:
            command = [fathom, "reproduce", *papers, "--part", part, "--threads", "1", "--format", "json", "-o"]
            bad = subprocess.run([*command, run], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL).returncode not in (0, 1)
        else:
            bad = subprocess.run([run if word == "RUN" else word for word in command], stdin=subprocess.DEVNULL).returncode != 0
        if not os.path.exists(run):
            sys.exit("nothing was measured")
        rows = {}
        for paper, (least, most) in papers.items():
            rows[paper], done = laid_beside(fathom, paper, part, run, ("--figures", figures))
            bad |= bool(one_paper(paper, part, rows[paper], done, least, most))
        bad |= told(fathom, papers, part, run, rows, here) > 0
    return int(bad)


sys.exit(main())
