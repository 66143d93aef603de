#!/usr/bin/env python3
"""One table of several cards of one kind: silicon_cards.py CARD.tsv... >TABLE.tsv

Each row is the one of the card in the middle, with the fewest and most cycles of a launch on any of them. An odd number of tables of
`silicon`, whose kernels are those of the first.
"""
import sys


def read(path):
    with open(path, encoding="utf-8") as f:
        lines = f.read().splitlines()
    return lines[0][2:], {word[0]: word for word in (line.split("\t") for line in lines if not line.startswith("#"))}, lines[1]


def main(paths):
    if len(paths) % 2 == 0:
        sys.exit(__doc__)
    cards = [read(p) for p in paths]
    model, *others = (name.rsplit(", ", 1) for name, _, _ in cards)
    if any(o[0] != model[0] for o in others):
        sys.exit(f"these are no cards of one kind and driver: {model[0]} and {next(o[0] for o in others if o[0] != model[0])}")
    print(f"# {model[0]}, {', '.join([model[1]] + [o[1] for o in others])}")
    print(cards[0][2])
    for name in cards[0][1]:
        rows = [rows[name] for _, rows, _ in cards]
        row = sorted(rows, key=lambda r: float(r[2]))[len(rows) // 2][:]
        row[3] = min((r[3] for r in rows), key=float)
        row[4] = max((r[4] for r in rows), key=float)
        print("\t".join(row))


main(sys.argv[1:])
