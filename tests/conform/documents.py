#!/usr/bin/env python3
"""What the documents promise exists.

That is every `fathom ...` line and `make ...` word of README.md, and the synopsis of the program itself in the man page. Every path in
backquotes of README.md, ARCHITECTURE.md and CONTRIBUTING.md exists, too.

Usage: documents.py FATHOM ROOT
"""
import os
import re
import subprocess
import sys

FATHOM, ROOT = os.path.abspath(sys.argv[1]), sys.argv[2]
DEVIATIONS_MOST = 9  # entries that one part of a paper may lean on
problems = []


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as f:
        return f.read()


def help_of(verb):
    result = subprocess.run([FATHOM, verb, "--help"], check=False, capture_output=True, text=True)
    return result.stdout if result.returncode == 0 else None


def code_lines(text):
    """Lines in fenced blocks and pieces in backquotes."""
    for block in re.findall(r"```[a-z]*\n(.*?)```", text, flags=re.S):
        yield from block.splitlines()
    yield from re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.S))


def check_command(name, line):
    line = line.split("#", 1)[0].split(">", 1)[0].strip().removeprefix("$ ")
    words = re.sub(r"[\[\]|]", " ", line).split()
    if len(words) < 2 or words[0] not in ("fathom", "./build/fathom"):
        return 0
    if words[1].startswith("-") or words[1].isupper() or words[1] == "help":
        return 0
    text = help_of(words[1])
    if text is None:
        problems.append(f"{name}: `{line}`: there is no command {words[1]}")
        return 1
    for word in words[2:]:
        option = word.split("=", 1)[0]
        if re.fullmatch(r"-{1,2}[a-z][a-z-]*", option) and not re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", text):
            problems.append(f"{name}: `{line}`: {words[1]} has no option {option}")
    return 1


def check_make(name, line, makefile):
    for target in re.findall(r"^(?:\$ )?make ([a-z-]+)", line):
        if not re.search(rf"^{target}:", makefile, flags=re.M):
            problems.append(f"{name}: `make {target}`: the Makefile has no such target")


def check_path(name, piece):
    if re.fullmatch(r"(?:src|probes|gpus|papers|tests|doc|tools)/[\w./-]*", piece) and "NAME" not in piece:
        if not os.path.exists(os.path.join(ROOT, piece)):
            problems.append(f"{name}: `{piece}` does not exist")


def deviations():
    """The first cells of gpus/DEVIATIONS.md, by section."""
    entries, section = {}, None
    for line in read("gpus/DEVIATIONS.md").splitlines():
        if line.startswith("## "):
            section = line[3:].strip()
        elif line.startswith("|") and section:
            entries.setdefault(section, set()).add(line.split("|")[1].strip())
    return entries


def check_paper(name, known):
    """Each `deviation:` names an entry for its GPU; a paper has few."""
    gpu, used = None, set()
    for number, line in enumerate(read(name).splitlines(), 1):
        if match := re.match(r"gpu\s*=\s*(\S+)", line):
            gpu = match.group(1)
        for cell in line.split("|")[5:] if not line.startswith("#") else []:
            if not cell.strip().startswith("deviation:"):
                continue
            entry = cell.split(":", 1)[1].strip()
            used.add((gpu, entry))
            if entry not in known.get(gpu, ()) and entry not in known["Every simulated GPU"]:
                problems.append(f"{name}:{number}: gpus/DEVIATIONS.md has no entry '{entry}' for {gpu}")
    for device in {g for g, _ in used}:
        if (count := sum(g == device for g, _ in used)) > DEVIATIONS_MOST:
            problems.append(f"{name}: {count} deviations of {device}: the simulator has to get nearer")


def check_figures():
    """The page's table of figures names those that the paper files number."""
    table = dict(re.findall(r"^\| `([\w-]+)` \| ([A-Z\d. ]*)\|", read("doc/paper-file.md"), flags=re.M))
    for name in sorted(os.listdir(os.path.join(ROOT, "papers"))):
        numbers = set(re.findall(r"^figure = ([A-Z\d.]+):", read(f"papers/{name}"), flags=re.M))
        said = set(table.get(name.removesuffix(".paper"), "none").split())
        if numbers != said:
            problems.append(f"doc/paper-file.md says that figures {sorted(said)} of {name} come out, its lines are {sorted(numbers)}")


def check_values():
    """Pages name as many values of a paper as the program counts."""
    listed = subprocess.run([FATHOM, "list", "papers"], check=True, capture_output=True, text=True).stdout
    counted = dict(re.findall(r"^([\w-]+)\s+(\d+) values", listed, flags=re.M))
    said = re.findall(r"`(?:fathom reproduce )?([\w-]+)`: (\d+) values", read("NEWS.md"))
    said += re.findall(r"fathom reproduce ([\w-]+)\s+# a paper's (\d+) values", read("README.md"))
    for paper, values in said:
        if counted.get(paper) != values:
            problems.append(f"{paper} has {counted.get(paper)} values, not {values} as README.md or NEWS.md says")
    if len(said) < 6:
        problems.append(f"only {len(said)} counts of values were found: this check reads nothing")


def check_probes_page():
    """doc/probes.md is what the program says of its probes; what it shows exists."""
    page = subprocess.run([FATHOM, "list", "probes", "--format", "markdown"], check=True, capture_output=True, text=True).stdout
    if page != read("doc/probes.md"):
        problems.append("doc/probes.md is not what the probes say: fathom list probes --format markdown > doc/probes.md"
                        " (only new figures need a run: make pages)")
    for figure in re.findall(r"\]\((figures/[^)]+)\)", page):
        if not os.path.exists(os.path.join(ROOT, "doc", figure)):
            problems.append(f"doc/probes.md shows doc/{figure}, which does not exist: make pages")


def check_lengths():
    """Pages that people read to the end."""
    most = {"README.md": 120, "ARCHITECTURE.md": 140}
    most |= {f"doc/results/{name}": 60 for name in os.listdir(os.path.join(ROOT, "doc", "results")) if name.endswith(".md")}
    for name, lines in most.items():
        if (have := len(read(name).splitlines())) > lines:
            problems.append(f"{name} has {have} lines; it may have {lines}")
    index = read("doc/README.md")
    for name in os.listdir(os.path.join(ROOT, "doc")):
        if name.endswith(".md") and name != "README.md" and f"]({name})" not in index:
            problems.append(f"doc/README.md does not name doc/{name}")


def main():
    makefile = read("Makefile")
    commands = 0
    for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"):
        for line in code_lines(read(name)):
            commands += check_command(name, line.strip())
            check_make(name, line.strip(), makefile)
            check_path(name, line.strip())
    if commands < 5:
        problems.append(f"only {commands} commands were found in the documents: this check reads nothing")
    check_probes_page()
    check_lengths()
    check_values()
    check_figures()
    known = deviations()
    for paper in sorted(os.listdir(os.path.join(ROOT, "papers"))):
        check_paper(f"papers/{paper}", known)
    man = subprocess.run([FATHOM, "--man"], check=True, capture_output=True, text=True).stdout
    for verb in re.findall(r"^  fathom ([a-z]+)", subprocess.run([FATHOM, "--help"], check=True, capture_output=True,
                                                                 text=True).stdout, flags=re.M):
        if f"fathom {verb}" not in man:
            problems.append(f"the man page does not know `fathom {verb}`")
        if f"fathom {verb}" not in read("README.md"):
            problems.append(f"README.md does not know `fathom {verb}`")
    print("\n".join(problems + [f"documents: {commands} commands, {len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
