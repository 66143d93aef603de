#!/usr/bin/env python3
"""The exam: what is inferred, laid beside what is true, in one table (doc/exam.md).

Usage: exam.py EXAM_CASE [--runs DIR] [--last FILE] [--write] [--make N] [--jobs J] [--paper NAME] [--sample]

Concludes again from every run that is there and prints answers by paper and family of keys, beside those of FILE. It fails, with exit code
1, if a paper has more wrong answers than FILE says of the same cases. It fails as well if fewer than 95 % of LIKELY ones are right, or a
case failed.

  --make N  measures up to N missing runs a paper first
  --write   puts today's figures into FILE; without --paper and --sample, or others' are lost
  --sample  takes only what lies in the tree
"""
import argparse
import collections
import concurrent.futures
import glob
import lzma
import os
import subprocess
import sys
import tempfile

import families
import strange

HERE = os.path.dirname(os.path.abspath(__file__))
ANSWERS = ["right", "likely", "bound", "inconclusive", "silent", "unlikely", "wrong"]
# A family is a key's first word; of these it is the first two.
SPLIT = {"cache", "tlb"}
# Nobody has tuned for the first 200; the others are GPUs of which some wrong answers are mended.
OURS = [*range(7_045_000_000, 7_045_000_200), *range(9_900_000_000, 9_900_000_040), *range(9_910_000_000, 9_910_000_028)]
LIKELY_RIGHT = 0.95  # of the answers that say so
OF_FAMILIES = [*range(1, 101), *range(500, 510), *range(600, 608)]
OF_STRANGE = [*range(1, 51), *range(500, 505), *range(600, 604)]

Case = collections.namedtuple("Case", "paper name run truth draw")  # draw: makes the description, None for what lies there


def stem(path):
    return os.path.basename(path).split(".")[0]


def there(path):
    """A run, packed or not, or the name that a packed one would have."""
    return path if os.path.exists(path) else path + ".xz"


def card_cases(runs, sample):
    """Recorded runs; h100-a-2.fathom is marked by the truth with the longest name that it begins with."""
    truths = {stem(t): t for t in glob.glob(os.path.join(HERE, "cards", "*.truth"))}
    found = glob.glob(os.path.join(HERE, "..", "recorded", "*.fathom.xz"))
    if not sample:
        found += glob.glob(os.path.join(runs, "cards", "*.fathom*"))
    for run in sorted(found):
        fit = [t for t in truths if stem(run).startswith(t)]
        if fit and "opencl" not in stem(run):  # another program on the same card, with keys of its own
            yield Case("cards", stem(run), run, truths[max(fit, key=len)], None)


def simulated(paper, name, runs, draw):
    folder = os.path.join(runs, paper)
    return Case(paper, name, there(os.path.join(folder, name + ".fathom")), os.path.join(folder, name + ".gpu"), draw)


def all_cases(exe, runs, sample):
    yield from card_cases(runs, sample)
    for run in sorted(glob.glob(os.path.join(HERE, "kept", "*.fathom.xz"))):
        yield Case("kept", stem(run), run, os.path.join(HERE, "somebody", stem(run) + ".gpu"), None)
    if sample:
        return
    for path in sorted(glob.glob(os.path.join(HERE, "somebody", "*.gpu"))):
        yield simulated("somebody", stem(path), runs, lambda path=path: open(path, encoding="utf-8").read())
    for seed in OF_FAMILIES:
        yield simulated("somebody", families.name(seed), runs, lambda seed=seed: families.draw(seed))
    for seed in OF_STRANGE:
        yield simulated("outside", strange.name(seed), runs, lambda seed=seed: strange.draw(seed))
    for seed in OURS:
        yield simulated("ours", str(seed), runs, lambda seed=seed: command([exe, "draw", str(seed)]))


def command(args):
    done = subprocess.run(args, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip() or f"{args[0]} ended with {done.returncode}")
    return done.stdout


def is_made(case):
    """Whether its run is there, and of the description as it is drawn today."""
    if not case.draw:
        return True
    if not os.path.exists(case.run):
        return False
    with open(case.truth, encoding="utf-8") as f:
        return f.read() == case.draw()


def make(exe, case):
    os.makedirs(os.path.dirname(case.run), exist_ok=True)
    if os.path.exists(case.run):  # of another description
        os.remove(case.run)
    with open(case.truth, "w", encoding="utf-8") as f:
        f.write(case.draw())
    with tempfile.TemporaryDirectory() as folder:
        run = os.path.join(folder, "run.fathom")
        command([exe, "make", case.truth, run])
        with open(run, "rb") as f, lzma.open(case.run + ".part", "wb", preset=3) as packed:
            packed.write(f.read())
    os.replace(case.run + ".part", case.run)


def mark(exe, case):
    """Rows of exam_case: asked or told, answer, key, verdict, value, truth, reason."""
    with tempfile.TemporaryDirectory() as folder:
        run = case.run
        if run.endswith(".xz"):
            run = os.path.join(folder, "run.fathom")
            with lzma.open(case.run) as packed, open(run, "wb") as f:
                f.write(packed.read())
        return [line.split("\t") for line in command([exe, "mark", run, case.truth]).splitlines()]


def family(key):
    words = key.split(".")
    return ".".join(words[: 2 if words[0] in SPLIT and len(words) > 2 else 1])


def count(rows):
    """Answers by family. What nobody has to find counts where it is wrong."""
    by = collections.defaultdict(lambda: dict.fromkeys(ANSWERS, 0))
    for asked, answer, key, *_ in rows:
        if asked == "asked" or answer in ("wrong", "unlikely"):
            by[family(key)][answer] += 1
    return by


def total(counts):
    counts = list(counts)
    return {a: sum(c[a] for c in counts) for a in ANSWERS}


def read_last(path):
    """(paper, case) -> answers, and (paper, family) -> answers."""
    cases, by_family = {}, {}
    if path and os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            for line in f:
                kind, paper, name, *numbers = line.rstrip("\n").split("\t")
                if kind in ("case", "family"):
                    {"case": cases, "family": by_family}[kind][paper, name] = dict(zip(ANSWERS, map(int, numbers)))
    return cases, by_family


def write_last(path, by_case, by_family):
    with open(path, "w", encoding="utf-8") as f:
        f.write("\t".join(["# kind", "paper", "name"] + ANSWERS) + "\n")
        for kind, table in ("family", by_family), ("case", by_case):
            for (paper, name), c in sorted(table.items()):
                f.write("\t".join([kind, paper, name] + [str(c[a]) for a in ANSWERS]) + "\n")


def good(c):
    """The share of right and likely ones, in hundredths."""
    return 100 * (c["right"] + c["likely"]) / max(1, sum(c.values()))


def row(name, c, *before):
    """An earlier column is empty where it knows nothing of the family."""
    then = "".join(f"  |{good(b):8.1f}{b['wrong']:7d}" if b and sum(b.values()) else "  |" + 15 * " " for b in before)
    print((f"  {name:20s}" + "".join(f"{c[a]:{max(9, len(a) + 1)}d}" for a in ANSWERS) + f"{good(c):9.1f}" + then).rstrip())


def print_paper(paper, by_case, by_family, before):
    """before: by name, the figures of an earlier state as read_last gives them."""
    names = sorted(n for p, n in by_case if p == paper)
    bad = sum(by_case[paper, n]["wrong"] > 0 for n in names)
    others = [b for b, (cases, _) in before.items() if names != sorted(n for p, n in cases if p == paper)]
    print(f"\n{paper}: {len(names)} runs, {bad} with a wrong answer" + (f"; other runs: column {' and '.join(others)}" if others else ""))
    print(f"  {'':20s}" + "".join(f"{a:>{max(9, len(a) + 1)}s}" for a in ANSWERS) + "   good %" + "".join(f"  |{b + ' %':>8s}  wrong" for b in before))
    of_paper = {f: c for (p, f), c in by_family.items() if p == paper}
    for name in sorted(of_paper):
        row(name, of_paper[name], *[families_then.get((paper, name)) for _, families_then in before.values()])
    row("all", total(of_paper.values()), *[total(c for (p, _), c in f.items() if p == paper) for _, f in before.values()])


def compare(by_case, last_cases):
    """Of the cases that both know, by paper: what changed, and whether more is wrong."""
    for paper in sorted({p for p, _ in by_case}):
        both = [k for k in by_case if k[0] == paper and k in last_cases]
        now, then = (total([t[k] for k in both]) for t in (by_case, last_cases))
        good, was = (c["right"] + c["likely"] for c in (now, then))
        if both:
            yield f"{paper}: the same {len(both)} runs had {was} good and {then['wrong']} wrong answers, and have {good} and {now['wrong']}", now["wrong"] > then["wrong"]


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("exe")
    p.add_argument("--runs", default="build/exam")
    p.add_argument("--last", default=os.path.join(HERE, "last.tsv"))
    p.add_argument("--write", action="store_true")
    p.add_argument("--make", type=int, default=0)
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--paper")
    p.add_argument("--sample", action="store_true")
    o = p.parse_args()
    cases = [c for c in all_cases(o.exe, o.runs, o.sample) if o.paper in (None, c.paper)]
    made = {c: is_made(c) for c in cases}
    if o.write and (o.paper or o.sample):
        p.error("--write takes all papers")
    failed, by_case, answers = [], {}, collections.defaultdict(list)
    with concurrent.futures.ThreadPoolExecutor(max(1, o.jobs)) as pool:

        def each(work, of):
            jobs = {pool.submit(work, o.exe, c): c for c in of}
            for job in concurrent.futures.as_completed(jobs):
                try:
                    yield jobs[job], job.result()
                except (RuntimeError, OSError, lzma.LZMAError) as e:
                    failed.append(f"{jobs[job].paper} {jobs[job].name}: {e}")

        missing = collections.Counter()
        wanted = []
        for c in cases:
            missing[c.paper] += not made[c]
            if not made[c] and missing[c.paper] <= o.make:
                wanted.append(c)
        for c, _ in each(make, wanted):
            made[c] = True
            print(f"made {c.paper} {c.name}", file=sys.stderr, flush=True)
        for c, rows in each(mark, [c for c in cases if made[c]]):
            counts = count(rows)
            by_case[c.paper, c.name] = total(counts.values())
            answers[c.paper].append((c.name, rows))
    by_family = collections.defaultdict(lambda: dict.fromkeys(ANSWERS, 0))
    for paper, marked in answers.items():
        for _, rows in marked:
            for name, c in count(rows).items():
                by_family[paper, name] = total([by_family[paper, name], c])
    before = {"first": read_last(os.path.join(HERE, "first.tsv")), "last": read_last(o.last)}
    for paper in dict.fromkeys(c.paper for c in cases):
        print_paper(paper, by_case, by_family, before)
        for name, rows in sorted(answers[paper]):
            for _, answer, key, verdict, value, truth, why in rows:
                if answer in ("wrong", "unlikely"):
                    print(f"  {answer} {name} {key} {verdict} {value}, truth {truth}: {why}")
    every = total(by_family.values())
    likely = every["likely"] + every["unlikely"]
    print(f"\nLIKELY and right: {every['likely']} of {likely}" + (f", {100 * every['likely'] / likely:.1f} % (95 asked)" if likely else ""))
    print(f"{len(by_case)} runs concluded, {sum(not m for m in made.values())} not made (make exam-runs makes them)")
    bad = ["FAILED " + line for line in failed]
    if likely and every["likely"] < LIKELY_RIGHT * likely:
        bad.append(f"WORSE fewer than {100 * LIKELY_RIGHT:.0f} % of LIKELY answers are right")
    for line, is_worse in compare(by_case, before["last"][0]):
        if is_worse:
            bad.append("WORSE " + line)
        else:
            print(line)
    print("\n".join(bad))
    if o.write:
        write_last(o.last, by_case, by_family)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
