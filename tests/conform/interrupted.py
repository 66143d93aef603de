#!/usr/bin/env python3
"""Runs that end early lose at most the probe in hand.

A resumed run comes to the same findings as one that was never interrupted. Two writers of one file exclude each other.

Usage: interrupted.py FATHOM
"""
import contextlib
import os
import re
import signal
import sqlite3
import sys
import time

from outside import Outside, accepted, expect, refused, run_tests

USAGE, DEVICE = 2, 3
DEVICE_NAME = "sim:gtx280"
# Slow enough to be caught at work, quick enough for a test; and the same to the last digit whatever was launched before. Costs of
# TLBs are not: a fresh device has its counters elsewhere, which moves such a cost within its interval.
PROBES = "clock,registers,shared_memory"
RUN = ["run", "-d", DEVICE_NAME, "-p", PROBES, "-o"]


def findings(o, path):
    result = o.run("report", path, "--format", "csv")
    accepted(result)
    return result.stdout


def done_probes(text):
    return [line for line in text.splitlines() if ": done, " in line]


def whole_run(o):
    """The findings of a run that nobody interrupted, made once."""
    path = o.path("whole.fathom")
    if not os.path.exists(path):
        accepted(o.run(*RUN, path))
    return findings(o, path)


def start_and_wait(o, path, probes_done, command=RUN):
    """A run in the background, once that many probes are done: the process and what it said so far."""
    process = o.start(*command, path)
    said = ""
    for line in process.stderr:
        said += line
        if len(done_probes(said)) >= probes_done and "[" in line and ": done" not in line:
            break
    return process, said


def finish(process, said):
    out, rest = process.communicate(timeout=60)
    process.stderr_text = said + rest
    process.stdout_text = out
    return process.returncode


def end_by(o, name, signum):
    path = o.path(name)
    process, said = start_and_wait(o, path, 1)
    time.sleep(0.05)
    process.send_signal(signum)
    code = finish(process, said)
    return path, code, process.stderr_text


def resume(o, path):
    result = o.run("run", "--resume", "-o", path)
    accepted(result)
    expect("sim:gtx280" in result.stderr, "the resumed run does not say its device")
    return result


def test_ctrl_c(o):
    path, code, said = end_by(o, "ctrlc.fathom", signal.SIGINT)
    complaints = [line for line in said.splitlines() if line.startswith("fathom: ")]
    expect(code == 130, f"exit code {code}: {said!r}")
    expect(len(complaints) == 1 and "--resume" in complaints[0] and path in complaints[0], f"said: {complaints}")
    accepted(o.run("report", path))
    result = resume(o, path)
    again = [line for line in done_probes(result.stderr) if "clock: done" in line]
    expect(not again, "the resumed run measured again what it had")
    expect(len(done_probes(result.stderr)) == 2, f"not everything was measured: {result.stderr!r}")
    expect(findings(o, path) == whole_run(o), "a resumed run comes to other findings than an uninterrupted one")


def test_ctrl_c_of_reproduce(o):
    paper, path = o.path("few.paper"), o.path("few.fathom")
    with open(paper, "w", encoding="utf-8") as f:
        f.write("title = T\nauthors = A\npublished = P\ndevice = D\ngpu = gtx280\n"
                "T | r | clock.granularity | 2 | cycles\nT | r | shared.latency | 38 | cycles\n")
    process, said = start_and_wait(o, path, 1, ["reproduce", paper, "-o"])
    process.send_signal(signal.SIGINT)
    code = finish(process, said)
    complaints = [line for line in process.stderr_text.splitlines() if line.startswith("fathom: ")]
    expect(code == 130, f"exit code {code}: {process.stderr_text!r}")
    expect(len(complaints) == 1 and f"--resume -o {path}, then fathom reproduce" in complaints[0], f"said: {complaints}")
    expect("1 agree, 0 explained, 0 differ, 1 not asked" in process.stdout_text, f"printed: {process.stdout_text!r}")
    resume(o, path)
    result = o.run("reproduce", paper, "--from", path)
    accepted(result)
    expect("2 agree" in result.stdout, result.stdout)


TWO_PARTS = ("title = T\nauthors = A\npublished = P\n"
             "device = D\ngpu = gtx280\nT | r | clock.granularity | 2 | cycles\nT | r | shared.latency | 38 | cycles\n"
             "device = E\ngpu = toy\nT | r | clock.granularity | 1 | cycles\nT | r | shared.latency | 20 | cycles\n")


def paper_of_two(o):
    paper = o.path("two.paper")
    with open(paper, "w", encoding="utf-8") as f:
        f.write(TWO_PARTS)
    return paper


def test_side_by_side(o):
    """The parts of a paper measured at once say the same as one after the other, and the log says whose each line is."""
    paper = paper_of_two(o)
    alone, beside = (o.run("reproduce", paper, "--threads", n) for n in ("1", "4"))
    expect(alone.stdout == beside.stdout and alone.returncode == beside.returncode, "other values side by side")
    expect("clock.granularity" in alone.stdout, alone.stdout)
    expect("gtx280: [1/" in beside.stderr and "toy: [1/" in beside.stderr, beside.stderr)
    expect("gtx280: [1/" not in alone.stderr, alone.stderr)


def test_ctrl_c_side_by_side(o):
    process, said = start_and_wait(o, "4", 1, ["reproduce", paper_of_two(o), "--threads"])
    process.send_signal(signal.SIGINT)
    code = finish(process, said)
    complaints = [line for line in process.stderr_text.splitlines() if line.startswith("fathom: ")]
    expect(code == 130, f"exit code {code}: {process.stderr_text!r}")
    expect(len(complaints) == 1 and "--resume" in complaints[0], f"said: {complaints}")
    expect("published values" in process.stdout_text, f"printed: {process.stdout_text!r}")


def test_terminate(o):
    path, code, said = end_by(o, "term.fathom", signal.SIGTERM)
    expect(code == 130, f"exit code {code}: {said!r}")
    accepted(o.run("report", path))


def test_second_ctrl_c(o):
    path = o.path("second.fathom")
    process, said = start_and_wait(o, path, 1)
    process.send_signal(signal.SIGINT)
    time.sleep(0.002)
    process.send_signal(signal.SIGINT)
    code = finish(process, said)
    expect(code in (-signal.SIGINT, 130), f"exit code {code}")
    accepted(o.run("report", path))


def test_kill_9(o):
    path, code, said = end_by(o, "kill.fathom", signal.SIGKILL)
    expect(code == -signal.SIGKILL, f"exit code {code}")
    report = o.run("report", path, "--format", "csv")
    accepted(report)
    expect("clock." in report.stdout or len(report.stdout.splitlines()) > 1, "the finished probe was lost")
    resume(o, path)
    expect(findings(o, path) == whole_run(o), "a resumed run comes to other findings than an uninterrupted one")
    expect(said, "the run said nothing")


def test_kill_9_at_any_moment(o):
    for delay in (0.0, 0.01, 0.03, 0.1, 0.3, 0.6, 1.0):
        path = o.path(f"kill-{delay}.fathom")
        process = o.start("run", "-d", DEVICE_NAME, "-p", "clock,shared_memory", "-o", path)
        time.sleep(delay)
        process.kill()
        process.communicate()
        if not os.path.exists(path):
            continue
        result = o.run("report", path)
        # Killed while the file was made: refused in a sentence. Otherwise it reads, and goes on.
        if result.returncode:
            refused(result, 4, os.path.basename(path))
            expect(delay < 0.1, f"the file is unreadable after {delay} s")
        else:
            accepted(o.run("run", "--resume", "-o", path))
            expect("shared.latency" in findings(o, path), "the resumed run does not know what was asked for")


def test_time_limit(o):
    path = o.path("limit.fathom")
    result = o.run(*RUN, path, "--time-limit", "0.05")
    refused(result, 1, "out of time", "--resume")
    resume(o, path)
    expect(findings(o, path) == whole_run(o), "a resumed run comes to other findings than an uninterrupted one")


def test_two_runs_on_one_file(o):
    path = o.path("two.fathom")
    process, said = start_and_wait(o, path, 1)
    try:
        refused(o.run(*RUN, path), USAGE, "--resume")
        refused(o.run("run", "--resume", "-o", path), DEVICE, "two.fathom")
        refused(o.run("infer", path), DEVICE, "two.fathom")
    finally:
        process.send_signal(signal.SIGINT)
        code = finish(process, said)
    expect(code == 130, f"the first run was disturbed: {code}, {process.stderr_text!r}")
    resume(o, path)


def test_resume_with_another_seed_or_device(o):
    path = o.path("seed.fathom")
    accepted(o.run("run", "-d", "sim:toy", "-p", "clock", "-o", path, "--seed", "5"))
    refused(o.run("run", "--resume", "-o", path, "--seed", "6"), USAGE, "seed 5")
    refused(o.run("run", "--resume", "-o", path, "-d", "sim:gtx280"), USAGE, "seed.fathom")
    accepted(o.run("run", "--resume", "-o", path, "--seed", "5"))


def test_resume_where_the_device_has_changed(o):
    path = o.path("changed.fathom")
    accepted(o.run("run", "-d", "sim:toy", "-p", "clock", "-o", path))
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE device SET sm_count = sm_count + 1, driver = 'older', memory_bytes = memory_bytes / 2")
        db.commit()
    refused(o.run("run", "--resume", "-o", path), USAGE, "changed.fathom", "SMs 2, not 3", "driver ", "not older", "bytes of memory ")


def test_terminate_while_a_pipe_is_opened(o):
    pipe = o.path("p.gpu")
    os.mkfifo(pipe)
    process = o.start("run", "-d", "sim:" + pipe, "-o", o.path("pipe.fathom"))
    time.sleep(0.3)
    process.terminate()
    code = finish(process, "")
    expect(code == -signal.SIGTERM, f"exit code {code}: {process.stderr_text!r}")
    expect(not os.path.exists(o.path("pipe.fathom")), "a file was made for a device that was never opened")


def test_names_that_a_terminal_would_obey(o):
    described = o.path("hostile.gpu")
    with open(os.path.join(os.path.dirname(__file__), "..", "..", "gpus", "toy.gpu"), encoding="utf-8") as f:
        text = re.sub(r'(?m)^(device\.name *=) *"[^"]*"', '\\1 "\033]0;pwn\007\u009b2JToy"', f.read())
    with open(described, "w", encoding="utf-8") as f:
        f.write(text)
    result = o.run("run", "-d", "sim:" + described, "-p", "clock", "-o", o.path("hostile.fathom"))
    accepted(result)
    expect("?]0;pwn??2JToy" in result.stderr, f"another name: {result.stderr!r}")
    for stream in (result.stdout, result.stderr):
        expect(not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", stream), f"control characters: {stream!r}")


def test_free_names(o):
    folder = o.path("names")
    os.makedirs(folder)
    for count in (1, 2, 3):
        result = o.run("run", "-d", "sim:toy", "-p", "clock", cwd=folder)
        accepted(result)
        names = os.listdir(folder)
        expect(len(names) == count, f"{names} after {count} runs")
        expect(any(f"wrote {n}\n" in result.stderr and f"report {n}\n" in result.stdout for n in names), f"the file is not named in {result.stdout!r}")


def test_same_seed_same_run(o):
    texts = []
    for name in ("same1.fathom", "same2.fathom"):
        accepted(o.run("run", "-d", "sim:toy", "-p", "clock", "-o", o.path(name), "--seed", "7"))
        texts.append(findings(o, o.path(name)))
    expect(texts[0] == texts[1], "the same seed gave other findings")


def test_infer_again_changes_nothing(o):
    whole_run(o)
    before = findings(o, o.path("whole.fathom"))
    result = o.run("infer", o.path("whole.fathom"))
    accepted(result)
    expect("nothing changed" in result.stdout, f"inference is not repeatable: {result.stdout!r}")
    expect(findings(o, o.path("whole.fathom")) == before, "infer changed the findings")


def test_replay_comes_to_the_same_findings(o):
    whole_run(o)
    path = o.path("replayed.fathom")
    accepted(o.run("run", "-d", "replay:" + o.path("whole.fathom"), "-o", path))
    expect(findings(o, path) == whole_run(o), "the replayed run comes to other findings than the recorded one")


def main():
    tests = [value for name, value in globals().items() if name.startswith("test_")]
    return run_tests(Outside(sys.argv[1]), tests)


if __name__ == "__main__":
    sys.exit(main())
