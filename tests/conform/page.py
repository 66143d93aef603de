#!/usr/bin/env python3
"""Pages of HTML, of runs and of many cards, are small, ask for nothing, and do in a browser what they promise (page.js).

Usage: page.py FATHOM SOURCE

Needs Debian's chromium, node, and what tools/install_optional.sh takes from npm; skipped with one line where they are missing.
"""
import lzma
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

SKIPPED = 77
MOST, MOST_FRESH = 500_000, 600_000  # bytes of a page: of runs recorded before some questions were asked, and of one that asks all
HOSTILE = '</script><img src=x onerror="window.hostile=1"><script>window.hostile=1</script>'
APART = "walk.global.1.latency"  # what one card of many differs in
MODULES = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "fathom-checks", "node_modules")


def unpack(source, name, folder):
    path = os.path.join(folder, name + ".fathom")
    with lzma.open(os.path.join(source, "tests", "recorded", name + ".fathom.xz")) as packed, open(path, "wb") as f:
        shutil.copyfileobj(packed, f)
    return path


def page(fathom, out, *runs):
    done = subprocess.run([fathom, "report", *runs, "--html", out], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"exit {done.returncode}: {done.stderr}")
    return os.path.getsize(out)


def measured(fathom, folder):
    """A run of today's program, with every question."""
    path = os.path.join(folder, "toy.fathom")
    done = subprocess.run([fathom, "run", "-d", "sim:toy", "-o", path], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"run: exit {done.returncode}: {done.stderr}")
    return path


def cards(fathom, folder, small, hostile):
    """A page of four cards that are alike but for one latency of the last, and of one whose name is hostile."""
    names = [os.path.join(folder, f"card{i}.fathom") for i in range(4)]
    for name in names:
        shutil.copy(small, name)
    with sqlite3.connect(names[-1]) as db:
        changed = db.execute("UPDATE finding SET number = 1.25 * number, lo = 1.25 * lo, hi = 1.25 * hi WHERE key = ?", (APART,)).rowcount
    db.close()
    out = os.path.join(folder, "fleet.html")
    done = subprocess.run([fathom, "fleet", *names, hostile, "--html", out], capture_output=True, text=True)
    if done.returncode != 1 or changed != 1 or names[-1] not in done.stderr:
        sys.exit(f"fleet: exit {done.returncode}, {changed} changed: {done.stderr}")
    return out


def main():
    fathom, source = sys.argv[1:]
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        large, small = unpack(source, "h200", folder), unpack(source, "h200-opencl", folder)
        hostile = os.path.join(folder, "hostile.fathom")
        shutil.copy(small, hostile)
        with sqlite3.connect(hostile) as db:
            db.execute("UPDATE finding SET because = ?, text = CASE kind WHEN 'text' THEN '<b>' ELSE text END", (HOSTILE,))
            db.execute("UPDATE device SET name = ?", (HOSTILE,))
        db.close()
        pages = [os.path.join(folder, name + ".html") for name in ("h200", "hostile", "both", "toy")]
        asked_more = os.path.join(folder, "h100.html")
        for card, path, run, most in (("an H100", asked_more, unpack(source, "h100", folder), MOST), ("an H200", pages[0], large, MOST),
                                      ("a fresh run", pages[3], measured(fathom, folder), MOST_FRESH)):
            size = page(fathom, path, run)
            if size > most:
                wrong.append(f"a page of {card} has {size} bytes, at most {most}")
        page(fathom, pages[1], hostile)
        page(fathom, pages[2], small, hostile)
        pages.append(cards(fathom, folder, small, hostile))
        with open(pages[1], encoding="utf-8") as f:
            if f.read().count("</script") != 3:
                wrong.append("a text ends a script")
        browser, node = shutil.which("chromium"), shutil.which("node")
        needed = [os.path.join(MODULES, m) for m in ("playwright-core", "axe-core")]
        if wrong or not browser or not node or not all(map(os.path.isdir, needed)):
            print("\n".join(wrong) or f"skipped: chromium, node, or playwright-core and axe-core in {MODULES} are not installed")
            return 1 if wrong else SKIPPED
        script = os.path.join(source, "tests", "conform", "page.js")
        return subprocess.run([node, script, *needed, browser, *pages]).returncode


sys.exit(main())
