#!/usr/bin/env python3
"""Checks the house rules that a compiler cannot. Prints every violation; exit code 1 when there is one.

Rooms include whom they may (the table in ARCHITECTURE.md), file names are unique across the tree, and a few words belong to one room only.

Usage: layers.py [ROOT]
"""
import os
import re
import sys

SOURCE = (".c", ".h", ".def")
LONGEST = 700  # lines: past this a file is two files

# (what, pattern, rooms that may say it)
WORDS = [
    ("allocates without base/arena.h", r"\b(?:malloc|calloc|realloc|strdup|strndup|asprintf)\s*\(", {"base/mem.c"}),
    ("speaks SQL", r"\bsqlite3_\w+\s*\(", {"store"}),
    ("calls the CUDA driver", r"\bcu(?:[A-Z][a-z]\w*)\s*\(", {"gpu/cuda", "exec"}),
    ("prints", r"(?<!\w)(?:printf|puts|putchar|perror)\s*\(|\b(?:stdout|stderr)\b", {"cmd", "main.c", "exec"}),
    ("decides by a sentence: reasons that code looks at are notes (data/finding.h)",
     r"\bstr(?:str|n?cmp|n?casecmp)\s*\((?:[^()]|\([^()]*\))*(?:\b(?:because|method|seen)\b|(?:->|\.)why\b)", {"report"}),
    ("ends the program", r"(?<![\w>.])exit\s*\(", {"cmd", "main.c"}),
]


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def rules(root):
    """The table under 'Who may include whom': room -> set of rooms and headers."""
    text = read(os.path.join(root, "ARCHITECTURE.md"))
    section = text.split("## Who may include whom", 1)[1].split("\n## ", 1)[0]
    table = {}
    for line in section.splitlines():
        m = re.match(r"\|\s*(\S+)\s*\|([^|]*)\|\s*$", line)
        if m and m.group(1) != "room" and not m.group(1).startswith("---"):
            table[m.group(1)] = set(m.group(2).split())
    if len(table) < 10:
        sys.exit("layers: the include table in ARCHITECTURE.md was not found")
    return table


def sources(root):
    for top in ("src", "probes"):
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(names):
                if name.endswith(SOURCE):
                    yield os.path.relpath(os.path.join(folder, name), root)


def room_of(path, table):
    """'src/gpu/sim/func/x.c' -> 'gpu/sim/func'; 'probes/clock/clock.c' -> 'probes'."""
    inner = path[4:] if path.startswith("src/") else path
    if inner in table:
        return inner
    best = ""
    for room in table:
        if inner.startswith(room + "/") and len(room) > len(best):
            best = room
    return best


def strip_comments(text):
    """Comments and string contents blanked, line breaks kept."""
    blank = lambda m: m.group(0)[0] + re.sub(r"[^\n]", " ", m.group(0)[1:])
    return re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", blank, text, flags=re.S)


def check_includes(root, path, table, used, problems):
    """Adds to `used` what of the table this file needs."""
    room = room_of(path, table)
    if not room:
        problems.append(f"{path}: its room is not in the table of ARCHITECTURE.md")
        return
    allowed = table[room]
    for number, line in enumerate(read(os.path.join(root, path)).splitlines(), 1):
        m = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if not m:
            continue
        name = m.group(1)
        beside = os.path.join(os.path.dirname(path), name)
        if os.path.exists(os.path.join(root, "src", name)):
            target = "src/" + name
        elif os.path.exists(os.path.join(root, "src", name + ".in")):  # the build makes it
            target = "src/" + name
        elif os.path.exists(os.path.join(root, name)):
            target = name
        elif os.path.exists(os.path.join(root, beside)):
            target = beside
        else:
            problems.append(f'{path}:{number}: "{name}" is no file of src/')
            continue
        theirs = room_of(target, table)
        inner = target[4:] if target.startswith("src/") else target
        used.update((room, name) for name in (theirs, inner) if name in allowed)
        if theirs == room or "*" in allowed or theirs in allowed or inner in allowed:
            continue
        problems.append(f"{path}:{number}: {room} may not include {inner} (allowed: {' '.join(sorted(allowed)) or 'libc'})")


def check_words(root, path, table, problems):
    room = room_of(path, table)
    inner = path[4:] if path.startswith("src/") else path
    text = strip_comments(read(os.path.join(root, path)))
    lines = text.splitlines()
    if len(lines) > LONGEST:
        problems.append(f"{path}: {len(lines)} lines; split it")
    for number, line in enumerate(lines, 1):
        for what, pattern, rooms in WORDS:
            if room not in rooms and inner not in rooms and re.search(pattern, line):
                problems.append(f"{path}:{number}: {what}, which only {' '.join(sorted(rooms))} may")


def check_names(root, problems):
    seen = {}
    for folder, dirs, names in os.walk(root):
        dirs[:] = [d for d in dirs if not d.startswith((".", "build")) and d != "__pycache__"]
        for name in names:
            if name.endswith((".c", ".h", ".def", ".py", ".sh")):
                seen.setdefault(name, []).append(os.path.relpath(os.path.join(folder, name), root))
    for name, paths in sorted(seen.items()):
        if len(paths) > 1:
            problems.append(f"{name}: the name is used more than once: {' '.join(sorted(paths))}")


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    table = rules(root)
    problems, used = [], set()
    count = 0
    for path in sources(root):
        count += 1
        check_includes(root, path, table, used, problems)
        check_words(root, path, table, problems)
    problems.extend(f"ARCHITECTURE.md: {room} may include {name}, and no file does" for room in table for name in sorted(table[room])
                    if name != "*" and (room, name) not in used)
    check_names(root, problems)
    for p in problems:
        print(p)
    print(f"layers: {count} files, {len(problems)} violations")
    return 1 if problems or not count else 0


if __name__ == "__main__":
    sys.exit(main())
