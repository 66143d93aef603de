#!/usr/bin/env python3
"""What people read is in sentences of one thought: at most 25 words, and none begins with "Where", "But" or "Nor". Pages, what the program says of
keys and probes, and the reasons that findings have.

Usage: sentences.py ROOT
"""
import glob
import os
import re
import sys

WORDS = 25
BEGINNINGS = ("Where", "But", "Nor")
ROOT = sys.argv[1]
CALLS = ("study_verdict", "study_bound", "study_measured_number", "study_likely_number", "study_text", "study_estimate", "err_set", "cmd_fail")
# Sentences of pages that are not rewritten yet: so many may be too long. Only fewer may stand here.
LEFT = {"doc/exam.md": 1, "doc/gpu-file.md": 33, "doc/inference.md": 12, "doc/paper-file.md": 6, "doc/predict.md": 8,
        "doc/report-json.md": 6, "doc/simulator-time.md": 7, "doc/simulator.md": 35, "doc/writing-probes.md": 20}
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
    """Texts of a C file that are sentences of people: what probes say of themselves, and what calls give as reasons."""
    code = re.sub(r"/\*.*?\*/", " ", read(path), flags=re.S)
    for match in re.finditer(r'\.(asks|how|fooled|source) =\s*((?:"(?:\\.|[^"\\])*"\s*)+)', code):
        # What can fool a probe is a list: "what misleads: what is done about it."
        yield from plain(match.group(2)).split(": ") if match.group(1) == "fooled" else [plain(match.group(2))]
    for match in re.finditer(r"\b(?:" + "|".join(CALLS) + r")\(", code):
        depth, at = 1, match.end()
        while depth and at < len(code):
            if code[at] == '"':
                at = re.compile(r'"(?:\\.|[^"\\])*"').match(code, at).end()
                continue
            depth += {"(": 1, ")": -1}.get(code[at], 0)
            at += 1
        for text in re.finditer(r'(?:"(?:\\.|[^"\\])*"\s*)+', code[match.end():at]):
            yield plain(text.group(0))


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
    before = len(problems)
    for paragraph in prose(read(page)):
        check(page, paragraph)
    if (found := len(problems) - before) <= LEFT.get(page, 0):
        del problems[before:]
    if found < LEFT.get(page, 0):
        problems.append(f"{page}: {found} sentences are too long, not {LEFT[page]}: say so in LEFT")
for source in sorted(sources):
    for text in literals(source):
        check(source, text)
for text in re.findall(r'K\("[^"]*", "[^"]*",\s*((?:"(?:\\.|[^"\\])*"\s*)+)\)', read("src/data/keys.def")):
    check("src/data/keys.def", plain(text))
print("\n".join(problems + [f"sentences: {len(problems)} problems"]))
sys.exit(1 if problems else 0)
