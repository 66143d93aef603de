#!/usr/bin/env python3
"""Lays simulated cycles beside a card's: silicon_errors.py CARD.tsv SIMULATED.tsv [--all] [--markdown] [--mean PERCENT]
   or measures first: silicon_errors.py --run SILICON DEVICE DIR CARD.tsv --mean PERCENT NAME...

Both tables come from `silicon`. A third of the kernels, chosen by their names, is held out. It is counted, and named only with
--all, which nobody should ask for while a model is tuned. Exit code 1: the mean error is larger than --mean, or a kernel of the
simulated table is missing in the card's.
"""
import subprocess
import sys
import zlib

PAGE_ROWS = 40  # the worst ones; a page has 60 lines


def parse(lines):
    rows = {}
    for line in lines[1:]:
        if not line.startswith("#"):
            word = line.split("\t")
            rows[word[0]] = (word[1], float(word[2]), float(word[3]), float(word[4]))
    return lines[0][2:].strip(), rows


def read(path):
    with open(path, encoding="utf-8") as f:
        return parse(f.read().splitlines())


def measured(args):
    silicon, device, where, card = args[:4]
    done = subprocess.run([silicon, device, where] + args[6:], capture_output=True, text=True)
    if done.returncode or not done.stdout:
        sys.exit(f"{silicon}: {done.stderr.strip()}")
    return read(card), parse(done.stdout.splitlines())


def held_out(kernel):
    return zlib.crc32(kernel.encode()) % 3 == 0


def summary(name, errors):
    e = sorted(abs(x) for x in errors)
    if not e:
        return f"{name}: none"
    return (f"{name}: {len(e)} configurations, mean {100 * sum(e) / len(e):.1f} %, median {100 * e[len(e) // 2]:.1f} %, "
            f"90th percentile {100 * e[min(len(e) - 1, int(0.9 * len(e)))]:.1f} %, worst {100 * e[-1]:.1f} %")


def table(rows, simulated, real, markdown):
    if markdown:
        print("| configuration | card, cycles | of its launches | simulated | error |\n|---|---:|---:|---:|---:|")
    for error, n in rows:
        kernel, cycles, least, most = real[n]
        mark = " (held out)" if held_out(kernel) else ""
        spread = f"{least:.0f} to {most:.0f}"
        if markdown:
            print(f"| {n}{mark} | {cycles:.0f} | {spread} | {simulated[n][1]:.0f} | {100 * error:+.1f} % |")
        else:
            print(f"{n + mark:34} {cycles:10.0f} ({spread}) {simulated[n][1]:10.0f} {100 * error:+8.1f} %")


def main(args):
    (card, real), (gpu, simulated) = measured(args[1:]) if args[0] == "--run" else (read(args[0]), read(args[1]))
    markdown = "--markdown" in args
    missing = [n for n in simulated if n not in real]
    rows = sorted(((simulated[n][1] / real[n][1] - 1, n) for n in simulated if n in real), key=lambda r: -abs(r[0]))
    seen = [r for r in rows if not held_out(real[r[1]][0])]
    if markdown:
        print("# Simulated cycles beside a card's\n")
        print(f"The kernels of `tests/silicon` on {gpu.split(',')[0]}, simulated in the order of its compiler, beside {card}.")
        print("A launch is timed by its own blocks, from the first one's begin to the last one's end; the median of 15 launches")
        print("counts, and of several cards the one in the middle. `make silicon` makes this page.\n")
    else:
        print(f"{gpu} beside {card}\n")
    end = "  " if markdown else ""
    print(summary("seen while tuning", [e for e, n in seen]) + end)
    print(summary("held out", [e for e, n in rows if held_out(real[n][0])]) + end)
    print(summary("all", [e for e, n in rows]))
    print("\nA third of the kernels, by their names, is held out: not named here, and not looked at while the model is changed.\n"
          if markdown else "")
    shown = rows if "--all" in args else seen
    table(shown[:PAGE_ROWS] if markdown else shown, simulated, real, markdown)
    for n in missing:
        print(f"{n}: not measured on the card")
    mean = sum(abs(e) for e, n in rows) / max(1, len(rows))
    most = float(args[args.index("--mean") + 1]) / 100 if "--mean" in args else None
    return 1 if missing or not rows or (most is not None and mean > most) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
