"""GPUs with what no candidate of the inference has, as .gpu text.

Each is one of families.py's, small enough to be measured in a minute or two, with one or two strange things:

  - quad-age replacement and set dueling (Qureshi 2007, Jaleel 2010; nanoBench finds both in processors)
  - victim buffers (Jouppi 1990)
  - a set index that is no xor of address bits
  - TLB entries that are filled piece by piece
  - strangers whose lines stay in a cache
"""
import random

import families

BASES = ["fermi", "maxwell", "pascal", "turing", "gcn", "rdna"]
SOURCE = "guess: nothing that the inference has a candidate for"


def put(t, stem, key, value, unit):
    """Also for textures that read through the very same level."""
    for of in (stem, stem.replace("cache.global.l2", "cache.texture.l2")):
        if of + ".size" in t.of or not of.startswith("cache."):
            t.put(f"{of}.{key}", value, unit, SOURCE)


def number(t, key):
    return int(t.of[key].split("=")[1].split()[0])


def levels(t):
    return [stem for stem in ("cache.global.l1", "cache.global.l2", "cache.constant.l1", "cache.texture.l1") if stem + ".size" in t.of]


def qlru(r, t):
    for stem in r.sample(levels(t), 2):
        put(t, stem, "policy", "qlru", "name")
        put(t, stem, "insert_age", r.choice((1, 2, 3)), "count")


def duel(r, t):
    put(t, "cache.global.l2", "policy", "duel", "name")
    put(t, r.choice(levels(t)), "policy", "duel", "name")


def victims(r, t):
    for stem in r.sample(levels(t), 2):
        put(t, stem, "victims", r.choice((1, 2, 4, 8, 16)), "count")


def scramble(r, t):
    for stem in dict.fromkeys(("cache.global.l2", r.choice(levels(t)))):
        sets = number(t, stem + ".sets")
        while sets & (sets - 1):
            sets &= sets - 1
        if sets < 2 or "set_bits_from" in "".join(k for k in t.of if k.startswith(stem)):
            continue
        put(t, stem, "sets", sets, "count")
        put(t, stem, "size", sets * number(t, stem + ".ways") * number(t, stem + ".line"), "bytes")
        put(t, stem, "mapping", "scramble", "name")


def sectored(r, t):
    """Entries of several pages, of which a miss brings one or two."""
    for level, line, entries, ways in ("l1", 8, 16, 0), ("l2", 8, r.choice((32, 64)), 8):
        stem = f"tlb.global.{level}"
        for key in [k for k in t.of if k.startswith(stem)]:
            del t.of[key]
        put(t, stem, "entries", entries, "count")
        put(t, stem, "line", line, "MB")
        put(t, stem, "sector", r.choice((2, 4)), "MB")
        put(t, stem, "scope", "sm" if level == "l1" else "gpu", "name")
        if ways:
            put(t, stem, "ways", ways, "count")
            put(t, stem, "latency", r.randint(20, 60), "cycles")
    t.put("tlb.global.levels", 2, "count", SOURCE)
    t.put("tlb.page_size", 2, "MB", SOURCE)
    t.put("tlb.global.miss_latency", r.randint(80, 300), "cycles", SOURCE)


def strangers(r, t):
    t.put("noise.neighbour_rate", f"{r.uniform(0.05, 0.5):.3f}", "evictions/kcycle", SOURCE)
    t.put("noise.neighbour_insert", r.choice((0.5, 0.9, 1)), "ratio", SOURCE)


THINGS = [(qlru,), (duel,), (victims,), (scramble,), (sectored,), (strangers,), (qlru, scramble), (victims, strangers), (duel, sectored), (scramble, strangers)]


def name(seed):
    return "-".join(thing.__name__ for thing in THINGS[seed % len(THINGS)]) + f"-{seed}"


def draw(seed):
    r = random.Random(f"strange {seed}")
    t = families.lines(5000 + seed, r.choice(BASES))
    for thing in THINGS[seed % len(THINGS)]:
        thing(r, t)
    t.put("device.name", f'"Strange {seed}"', "name", SOURCE)
    return t.text()
