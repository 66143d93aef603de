#!/usr/bin/env python3
"""What people read is in sentences of one thought: at most 25 words, and none begins with "Where", "But" or "Nor". Pages, what the program says of
keys and probes, the reasons that findings have, and the comments of the source.

Usage: sentences.py ROOT
"""
import glob
import os
import re
import sys

WORDS = 25
BEGINNINGS = ("Where", "But", "Nor")
ROOT = sys.argv[1]
problems = []


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


def prose(text):
    """Paragraphs of a page, without code, tables, headings and the ends of links."""
    text = re.sub(r"```.*?```", "\n\n", text, flags=re.S)
    text = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"`[^`\n]*`", "Code", text)
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )", text):
        lines = [line for line in paragraph.splitlines() if not re.match(r"\s*(\||#|>|    )", line)]
        yield re.sub(r"^\s*(?:[-*]|\d+\.) ", "", " ".join(lines))


def plain(text):
    return re.sub(r"\s+", " ", "".join(re.findall(r'"((?:\\.|[^"\\])*)"', text)).replace("\\n", " ").replace('\\"', '"'))


def literals(path):
    """Texts of a C file that people read: reasons and what they are made of, errors, help, and what probes say of themselves. Others, such as
    formats of files, are no sentences. What can fool a probe is a list: "what misleads: what is done about it."
    """
    code = re.sub(r"/\*.*?\*/", " ", read(path), flags=re.S)
    for match in re.finditer(r'(\.fooled =\s*)?((?:"(?:\\.|[^"\\])*"\s*)+)', code):
        text = plain(match.group(2))
        if not re.search(r"[{};<]|\.(SH|SS|TP)\b", text):
            yield from text.split(": ") if match.group(1) else [text]


def comments(path):
    """Paragraphs of the comments of a C file, with the line where each comment begins. Indented lines are tables and examples, no sentences."""
    code = read(path)
    # Texts first, for what looks like a comment in one is none.
    for match in re.finditer(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|/\*(.*?)\*/|//([^\n]*)', code, re.S):
        text = match.group(1) or match.group(2)
        if not text:
            continue
        lines = [re.sub(r"^\s*\*( |$)", "", line) for line in text.split("\n")]
        shown = "\n".join("" if re.match(r" {2,}\S", line) and i else line.strip() for i, line in enumerate(lines))
        for paragraph in re.split(r"\n\s*\n", shown):
            yield f"{path}:{code.count(chr(10), 0, match.start()) + 1}", " ".join(paragraph.split())


def check(where, text):
    text = re.sub(r"\b(e\.g|i\.e|cf|Fig|No|vs|et al)\.", r"\1", text)
    for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z\"(*])|(?<=:)\s+(?=[A-Z][a-z]+ [a-z])", text):
        words = [w for w in re.findall(r"\S+", sentence) if re.search(r"\w", w) and not re.fullmatch(r"\W*Code\W*s?", w)]
        if len(words) > WORDS:
            problems.append(f"{where}: {len(words)} words: {sentence.strip()[:300]}")
        if words and words[0].strip("*\"(") in BEGINNINGS:
            problems.append(f"{where}: begins with {words[0]}: {sentence.strip()[:120]}")


pages = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"] + [os.path.relpath(p, ROOT) for p in glob.glob(os.path.join(ROOT, "doc", "*.md"))]
pages.remove(os.path.join("doc", "probes.md"))  # made of the probes' own words
sources = [os.path.relpath(p, ROOT) for pattern in ("src/*/*.c", "src/*/*/*.c", "probes/*/*.c") for p in glob.glob(os.path.join(ROOT, pattern))]
for page in sorted(pages):
    for paragraph in prose(read(page)):
        check(page, paragraph)
for source in sorted(s for s in sources if not re.search(r"/export_\w+\.c$", s)):  # those write other programs' files
    for text in literals(source):
        check(source, text)
for source in sorted(s for e in ("c", "h", "def") for d in ("src", "probes", "tests", "tools") for s in glob.glob(os.path.join(ROOT, d, "**", f"*.{e}"), recursive=True)):
    for where, text in comments(os.path.relpath(source, ROOT)):
        check(where, text)
for text in re.findall(r'K\("[^"]*", "[^"]*",\s*((?:"(?:\\.|[^"\\])*"\s*)+)\)', read("src/data/keys.def")):
    check("src/data/keys.def", plain(text))
print("\n".join(problems + [f"sentences: {len(problems)} problems"]))
sys.exit(1 if problems else 0)
