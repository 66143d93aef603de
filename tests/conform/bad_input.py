#!/usr/bin/env python3
"""Every kind of bad input that a user can give: one clear sentence, the right exit code, nothing lost.

Usage: bad_input.py FATHOM ROOT FAKE
FAKE is the folder with a libcuda.so.1 that plays a driver.
"""
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys

from outside import Outside, accepted, expect, refused, run_tests

FATHOM, ROOT, FAKE = sys.argv[1], sys.argv[2], os.path.abspath(sys.argv[3])
USAGE, DEVICE, FILE = 2, 3, 4
DRIVER_FOLDERS = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/lib/wsl/lib",
                  "/usr/local/nvidia/lib64"]


def small_run(o, name="small.fathom"):
    """A finished run file, made once."""
    path = o.path(name)
    if not os.path.exists(path):
        accepted(o.run("run", "-d", "sim:toy", "-p", "clock", "-o", path))
    return path


def read(path):
    with open(path, "rb") as f:
        return f.read()


def write(path, data):
    with open(path, "wb") as f:
        f.write(data)
    return path


# ---- the command line ----


def test_no_command(o):
    refused(o.run(), USAGE, "fathom run")


def test_unknown_command(o):
    refused(o.run("reprot"), USAGE, "fathom report")
    refused(o.run("--devices"), USAGE, "--help")


def test_unknown_option(o):
    refused(o.run("run", "--devcie", "sim:toy"), USAGE, "--device")
    refused(o.run("report", "x.fathom", "--format", "yaml"), USAGE, "text|summary|lemeire|json|csv")


def test_unknown_probe(o):
    refused(o.run("run", "-d", "sim:toy", "-p", "clokc"), USAGE, "clock")
    refused(o.run("run", "-d", "sim:toy", "-p", ","), USAGE, "list probes")
    refused(o.run("list", "prbes"), USAGE, "probes")


def test_bad_numbers(o):
    refused(o.run("run", "--seed", "-1"), USAGE, "seed")
    refused(o.run("run", "--time-limit", "soon"), USAGE, "time-limit")


def test_resume_without_file(o):
    refused(o.run("run", "--resume"), USAGE, "-o")
    refused(o.run("run", "--resume", "-o", "none.fathom"), FILE, "none.fathom")


# ---- devices ----


def test_no_driver(o):
    if any(os.path.exists(folder + "/libcuda.so.1") for folder in DRIVER_FOLDERS):
        return "this machine has a driver"
    refused(o.run("run", "-d", "cuda:0"), DEVICE, "libcuda.so.1")
    result = o.run("list", "devices")
    accepted(result)
    expect("libcuda.so.1" in result.stdout, "the list of devices does not say why there is no cuda device")
    return None


def driver(o, **plays):
    """The environment in which the driver is the fake one, playing what is asked."""
    return o.env(LD_LIBRARY_PATH=FAKE, **{"FAKE_CUDA_" + name: value for name, value in plays.items()})


def test_opencl_driver_that_is_not_there(o):
    empty, broken = o.path("no-vendors"), o.path("vendors")
    for folder in (empty, broken):
        os.makedirs(folder, exist_ok=True)
    write(os.path.join(broken, "x.icd"), (write(os.path.join(broken, "x.so"), b"no library") + "\n").encode())
    for vendors, why in ((empty, "there is no .icd file in"), (broken, "x.icd does not load: ")):
        result = o.run("run", "-d", "opencl:0.0", "-p", "walk", env=o.env(OCL_ICD_VENDORS=vendors))
        refused(result, DEVICE, "OpenCL")
        listed = o.run("list", env=o.env(OCL_ICD_VENDORS=vendors))
        accepted(listed)
        if "libOpenCL" not in result.stderr:  # where there is no loader, that is the reason
            expect(why in result.stderr and why in listed.stdout, f"it does not say: {why}")


def test_opencl_driver_beside_one_that_does_not_load(o):
    vendors = o.path("mixed")
    shutil.copytree("/etc/OpenCL/vendors", vendors) if os.path.isdir("/etc/OpenCL/vendors") else os.makedirs(vendors)
    write(os.path.join(vendors, "x.icd"), b"/nowhere/libx.so\n")
    whole, mixed = (o.run("list", "devices", env=env) for env in (o.env(), o.env(OCL_ICD_VENDORS=vendors)))
    if "opencl:0.0" not in whole.stdout:
        return "no OpenCL device here"
    expect("opencl:0.0" in mixed.stdout and "x.icd does not load: " in mixed.stdout, mixed.stdout)
    return None


def test_driver_without_devices(o):
    env = driver(o, DEVICES="0")
    refused(o.run("run", "-d", "cuda:0", "-o", "never.fathom", env=env), DEVICE, "no GPU")
    listed = o.run("list", "devices", env=env)
    accepted(listed)
    expect("cuda:0" not in listed.stdout, "a device that is not there is listed")
    # Without -d the run says why it falls back.
    chosen = o.run("run", "-p", "clock", "-o", "fallback.fathom", env=env)
    accepted(chosen)
    expect("sim:gtx280" in chosen.stderr, f"the choice is not said: {chosen.stderr!r}")


def test_driver_that_does_not_start(o):
    refused(o.run("run", "-d", "cuda:0", "-o", "never.fathom", env=driver(o, INIT="999")), DEVICE)


def test_device_index_out_of_range(o):
    refused(o.run("run", "-d", "cuda:7", "-o", "never.fathom", env=driver(o, GPU="toy")), DEVICE, "7")
    refused(o.run("run", "-d", "cuda:99999999999999999999", env=driver(o, GPU="toy")), DEVICE)


def test_driver_without_ptx_support(o):
    # A driver from before the linker: a symbol is missing.
    refused(o.run("run", "-d", "cuda:0", "-o", "never.fathom", env=o.env(LD_LIBRARY_PATH=os.path.join(FAKE, "old"))), DEVICE,
            "cuLink")
    expect(not os.path.exists(o.path("never.fathom")), "a refused device left a run file")


def test_driver_that_fails_once(o):
    # 222: the PTX is of a newer version than the driver's compiler knows. One such answer costs at most a probe.
    result = o.run("run", "-d", "cuda:0", "-p", "clock", "-o", "once.fathom",
                   env=driver(o, GPU="toy", FAIL="cuLinkAddData_v2:1:222"))
    if result.returncode:
        refused(result, 1, "FAILED")
    accepted(o.run("report", "once.fathom"))


def test_driver_that_crashes_or_hangs(o):
    # Each launch that never ends costs its whole time limit: one is enough. The first of every process crashes: a fresh one does not help.
    for play in ({"CRASH": "1"}, {"FAULT": "1"}, {"HANG": "3", "ONCE": o.path("hung")}):
        name = next(iter(play)).lower() + ".fathom"
        result = o.run("run", "-d", "cuda:0", "-p", "clock", "-o", name, env=driver(o, GPU="toy", **play))
        if result.returncode or "HANG" not in play:
            refused(result, 1, "FAILED", "--resume")
        report = o.run("report", name, "--format", "json", "--series")
        accepted(report)
        expect("CRASH" in report.stdout or "TIMEOUT" in report.stdout, f"{play}: no point tells of it")


def test_driver_that_kills_who_starts_it(o):
    """Segmentation fault in the driver: what is simulated can still be listed and measured, and the reason is told."""
    env = driver(o, INIT="-11")
    listed = o.run("list", "devices", env=env)
    accepted(listed)
    expect("sim:toy" in listed.stdout and "(cuda: the process that looks for cuda devices was killed by signal 11" in listed.stdout, listed.stdout)
    refused(o.run("run", "-d", "cuda:0", "-o", "never.fathom", env=env), DEVICE, "cuda:0", "signal 11")
    chosen = o.run("run", "-p", "clock", "-o", "dead.fathom", env=env)
    accepted(chosen)
    expect("signal 11" in chosen.stderr and "taking the simulated" in chosen.stderr, chosen.stderr)


def test_driver_that_lacks_a_library(o):
    folder = o.path("lacking")
    os.makedirs(folder)
    with open(os.path.join(FAKE, "libcuda.so.1"), "rb") as f:
        library = f.read()
    with open(os.path.join(folder, "libcuda.so.1"), "wb") as f:
        f.write(library.replace(b"\0libc.so.6\0", b"\0libQ.so.6\0"))
    env = o.env(LD_LIBRARY_PATH=folder)
    refused(o.run("run", "-d", "cuda:0", "-o", "never.fathom", env=env), DEVICE, "libQ.so.6")
    expect("libQ.so.6" in o.run("list", "devices", env=env).stdout, "the list does not name what is missing")


def test_first_usable_gpu_is_chosen(o):
    chosen = o.run("run", "-p", "clock", "-o", "usable.fathom", env=driver(o, GPU="toy", DEVICES="3", BUSY="1"))
    accepted(chosen)
    expect("device: cuda:1, " in chosen.stderr and "cuda:0 cannot be used: " in chosen.stderr, chosen.stderr)


def test_first_real_gpu_is_chosen(o):
    chosen = o.run("run", "-p", "clock", "-o", "chosen.fathom", env=driver(o, GPU="toy"))
    accepted(chosen)
    expect("cuda:0" in chosen.stderr, f"the choice is not said: {chosen.stderr!r}")


def test_no_such_device(o):
    refused(o.run("run", "-d", "toy"), USAGE, "sim:toy")
    refused(o.run("run", "-d", "sim:gtx208"), USAGE, "did you mean gtx280?")
    refused(o.run("run", "-d", "sim:teapot"), USAGE, "built in are g8800gtx")
    refused(o.run("exec", "--gpu", "gtx208", "true"), USAGE, "did you mean gtx280?")
    refused(o.run("run", "-d", "cdua:0"), USAGE, "cuda")
    refused(o.run("run", "-d", "sim:"), USAGE, "sim:")
    refused(o.run("run", "-d", "nonsense"), USAGE, "nonsense")


def test_no_such_files(o):
    refused(o.run("run", "-d", "sim:none.gpu"), FILE, "none.gpu")
    refused(o.run("exec", "--gpu", "none.gpu", "true"), FILE, "none.gpu")
    refused(o.run("run", "-d", "replay:none.fathom"), FILE, "none.fathom")
    refused(o.run("report", "none.fathom"), FILE, "none.fathom")
    refused(o.run("infer", "none.fathom"), FILE, "none.fathom")
    refused(o.run("sim", "none.ptx", "--gpu", "toy", "--grid", "1", "--block", "1"), FILE, "none.ptx")
    refused(o.run("predict", "none.ptx", "--grid", "1", "--block", "1", "--from", "none.fathom"), FILE, "none.fathom")
    refused(o.run("predict", "none.ptx", "--grid", "1", "--block", "1"), USAGE, "--from")
    refused(o.run("compare", "none.fathom", "none.fathom"), FILE, "none.fathom")
    refused(o.run("compare", "none.fathom"), USAGE, "FILE.fathom")


def test_refused_devices_leave_no_file(o):
    expect("never.fathom" not in os.listdir(o.dir), "a refused run left a file behind")


def test_template_without_its_parameters(o):
    path = write(o.path("template.ptx"), b".visible .entry k()\n{\n    .reg .u32 %a;\n    mov.u32 %a, $N;\n    ret;\n}\n")
    refused(o.run("sim", path, "--gpu", "toi", "--grid", "1", "--block", "1"), USAGE, "did you mean toy?")
    launch = ("sim", path, "--gpu", "toy", "--grid", "1", "--block", "1", "--template")
    accepted(o.run(*launch, "N=5"))
    refused(o.run(*launch, "M=5"), FILE, "template.ptx:4:", "N")
    refused(o.run(*launch, "N"), USAGE, "--template", "THREADS=256")
    refused(o.run(*launch, "N=" + 200 * "5"), USAGE, "--template")


# ---- .gpu files ----


def gpu_text():
    with open(os.path.join(ROOT, "gpus", "toy.gpu"), encoding="utf-8") as f:
        return f.read()


def line_of(text, key):
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith(key + " ") or line.startswith(key + "="):
            return number, line
    raise AssertionError(f"toy.gpu has no line for {key}")


def refused_gpu(o, name, text, *parts):
    path = o.path(name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    refused(o.run("run", "-d", "sim:" + path, "-p", "clock", "-o", o.path("never.fathom")), FILE, name, *parts)
    expect(not os.path.exists(o.path("never.fathom")), "a refused device left a run file")


def test_gpu_with_a_typo(o):
    text = gpu_text()
    number, line = line_of(text, "cache.constant.l1.size")
    refused_gpu(o, "typo.gpu", text.replace(line, line.replace("cache.constant.l1.size", "cache.constnat.l1.size")),
                f":{number}:", "cache.constant.l1.size")


def test_gpu_with_a_missing_key(o):
    text = gpu_text()
    _, line = line_of(text, "device.sm_count")
    refused_gpu(o, "missing.gpu", text.replace(line + "\n", ""), "device.sm_count")


def test_gpu_with_a_zero_size(o):
    text = gpu_text()
    number, line = line_of(text, "cache.constant.l1.size")
    zero = re.sub(r"=\s*[\d.]+\s*\w+", "= 0 bytes", line, count=1)
    expect(zero != line, "the line could not be edited")
    refused_gpu(o, "zero.gpu", text.replace(line, zero), f":{number}:")


def test_gpu_with_a_line_larger_than_its_cache(o):
    text = gpu_text()
    number, line = line_of(text, "cache.constant.l1.line")
    big = re.sub(r"=\s*[\d.]+\s*\w+", "= 1048576 bytes", line, count=1)
    expect(big != line, "the line could not be edited")
    refused_gpu(o, "large.gpu", text.replace(line, big), f":{number}:")


def test_gpu_that_is_no_text(o):
    refused_gpu(o, "binary.gpu", "\x00\x01\x02\x1b[31m\x7f" * 50)
    refused_gpu(o, "empty.gpu", "")


# ---- papers ----


PAPER = "title = T\nauthors = A\npublished = P\ndevice = D\ngpu = toy\n"


def paper(o, name, rows):
    return write(o.path(name), (PAPER + rows).encode())


def test_unknown_paper(o):
    refused(o.run("reproduce", "wong2011"), USAGE, "did you mean wong2010?")
    refused(o.run("reproduce"), USAGE, "PAPER")
    refused(o.run("reproduce", o.path("none.paper")), FILE, "none.paper")


def test_paper_with_a_typo(o):
    path = paper(o, "typo.paper", "Table 1 | row | clock.granularity | one | cycles\n")
    refused(o.run("reproduce", path), FILE, "typo.paper:6:", "'one'", "write 7.9")
    path = paper(o, "short.paper", "Table 1 | row | clock.granularity | 1\n")
    refused(o.run("reproduce", path), FILE, "short.paper:6:", "where | row | key")


def test_paper_beside_what_it_has_no_values_of(o):
    path = paper(o, "two.paper", "T | r | clock.granularity | 1 | cycles\ndevice = E\ngpu = gtx280\n"
                                 "T | r | clock.granularity | 2 | cycles\n")
    refused(o.run("reproduce", path, "--part", "v100"), USAGE, "toy, gtx280")
    refused(o.run("reproduce", path, "--gpu", "v100"), USAGE, "--part", "toy, gtx280")
    refused(o.run("reproduce", path, "-o", o.path("never.fathom")), USAGE, "--part")
    refused(o.run("reproduce", path, "--gpu", "nosuch", "--part", "toy"), USAGE, "nosuch")
    refused(o.run("reproduce", path, "--from", small_run(o), "--gpu", "toy"), USAGE, "--from")
    refused(o.run("reproduce", path, "--from", o.path("none.fathom")), FILE, "none.fathom")
    refused(o.run("reproduce", path, "--part", "toy", "-o", small_run(o)), USAGE, "small.fathom")
    expect(not os.path.exists(o.path("never.fathom")), "a refused comparison left a run file")


def test_paper_that_comes_out_and_one_that_does_not(o):
    right = paper(o, "right.paper", "T | r | clock.granularity | 1 | cycles\nT | r | - | 3 | cycles\n")
    result = o.run("reproduce", right, "-o", o.path("right.fathom"))
    accepted(result)
    expect("2 published values: 1 agree, 0 explained, 0 differ, 1 not asked" in result.stdout, result.stdout)
    wrong = paper(o, "wrong.paper", "T | r | clock.granularity | 7 | cycles\n")
    refused(o.run("reproduce", wrong, "--from", o.path("right.fathom")), 1, "1 of 1 published values differ")
    known = paper(o, "known.paper", "T | r | clock.granularity | 7 | cycles | deviation: a test\n")
    accepted(o.run("reproduce", known, "--from", o.path("right.fathom"), "--figures", o.path("figures")))
    result = o.run("reproduce", wrong, "--from", o.path("right.fathom"), "--format", "json")
    expect(json.loads(result.stdout)["counts"] == {"agree": 0, "explained": 0, "differ": 1, "not_asked": 0, "settings": 0,
                                                    "repeated": 0}, result.stdout)


# ---- kernels ----


def test_ptx_with_an_unknown_instruction(o):
    path = o.path("bad.ptx")
    with open(path, "w", encoding="utf-8") as f:
        f.write(".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n\t.reg .u32 %r<3>;\n"
                "\taddd.u32 %r1, %r2, 1;\n\tret;\n}\n")
    refused(o.run("sim", path, "--gpu", "toy", "--grid", "1", "--block", "1"), FILE, "bad.ptx:7:", "addd")


# ---- run files ----


def each_reader(o, path, *parts):
    """Nobody reads the file, everybody says why, and nobody changes it."""
    before = read(path)
    for args in (["report", path], ["infer", path], ["run", "--resume", "-o", path],
                 ["run", "-d", "replay:" + path, "-o", o.path("never.fathom")]):
        refused(o.run(*args), FILE, os.path.basename(path), *parts)
        expect(read(path) == before, f"`fathom {' '.join(args)}` changed the file")
    expect(not os.path.exists(o.path("never.fathom")), "a refused recording left a run file")


def test_run_file_truncated(o):
    data = read(small_run(o))
    for share in (0.3, 0.6, 0.95):
        each_reader(o, write(o.path("truncated.fathom"), data[:int(len(data) * share)]))


def test_run_file_damaged(o):
    data = bytearray(read(small_run(o)))
    for i in range(4096, len(data), 97):
        data[i] ^= 0x5A
    each_reader(o, write(o.path("damaged.fathom"), bytes(data)))


def test_run_file_empty(o):
    each_reader(o, write(o.path("empty.fathom"), b""))


def test_run_file_not_sqlite(o):
    each_reader(o, write(o.path("text.fathom"), b"this is a shopping list\n" * 100))


def test_run_file_of_another_program(o):
    path = o.path("foreign.fathom")
    if os.path.exists(path):
        os.unlink(path)
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE songs(name TEXT)")
    db.commit()
    db.close()
    each_reader(o, path)


def test_run_file_of_a_newer_schema(o):
    path = write(o.path("newer.fathom"), read(small_run(o)))
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 99")
    db.commit()
    db.close()
    each_reader(o, path, "newer")


def test_run_file_is_a_directory(o):
    os.makedirs(o.path("dir.fathom"), exist_ok=True)
    for args in (["report", "dir.fathom"], ["infer", "dir.fathom"]):
        refused(o.run(*args), FILE, "dir.fathom")


def test_output_exists(o):
    path = small_run(o)
    before = read(path)
    refused(o.run("run", "-d", "sim:toy", "-p", "clock", "-o", path), USAGE, "--resume", "small.fathom")
    expect(read(path) == before, "the existing file was changed")


# ---- the machine ----


def test_read_only_directory(o):
    folder = o.path("readonly")
    os.makedirs(folder, exist_ok=True)
    os.chmod(folder, 0o555)
    how = {}
    if os.geteuid() == 0:
        # Root may write anywhere: become nobody, where nobody can reach the program.
        try:
            subprocess.run([os.path.abspath(FATHOM), "--version"], check=True, capture_output=True, user=65534)
            how = {"user": 65534}
        except (OSError, subprocess.CalledProcessError):
            folder = "/proc"  # no file can be made there, not even by root
    refused(o.run("run", "-d", "sim:toy", "-p", "clock", cwd=folder, **how), DEVICE, "fathom-toy")
    refused(o.run("run", "-d", "sim:toy", "-p", "clock", "-o", folder + "/x.fathom", **how), DEVICE, "x.fathom")


def test_standard_output_on_a_full_disk(o):
    path = small_run(o)
    for args in (["list"], ["list", "keys"], ["--help"], ["--version"], ["report", path, "--format", "json"]):
        with open("/dev/full", "w", encoding="utf-8") as full:
            refused(o.run(*args, stdout=full), DEVICE, "standard output")


def test_output_that_is_no_file(o):
    """A pipe or a device stays one: what is written goes through it."""
    result = o.run("report", small_run(o), "--html", "/proc/self/fd/1")
    expect(result.returncode == 0 and "<!DOCTYPE html>" in result.stdout, f"{result.returncode}: {result.stderr!r}")


def test_reader_that_goes_away(o):
    read_end, write_end = os.pipe()
    os.close(read_end)
    result = o.run("list", "keys", stdout=write_end)
    os.close(write_end)
    expect(result.returncode == 0 and not result.stderr, f"{result.returncode}: {result.stderr!r}")


def on_small_disk(o, kilobytes, *args):
    """Runs the program where a file system of that size is mounted at ./disk; None where that is not permitted."""
    os.makedirs(o.path("disk"), exist_ok=True)
    trial = subprocess.run(["unshare", "-rm", "sh", "-c", "mount -t tmpfs none disk"], cwd=o.dir, check=False,
                           capture_output=True)
    if trial.returncode:
        return None
    after = 'mount -t tmpfs -o size=%dk,mode=777 none disk; "$0" "$@"; rc=$?; cp disk/* kept/ 2>/dev/null; exit $rc' % kilobytes
    os.makedirs(o.path("kept"), exist_ok=True)
    for name in os.listdir(o.path("kept")):
        os.unlink(os.path.join(o.path("kept"), name))
    return subprocess.run(["unshare", "-rm", "sh", "-c", after, o.fathom, *args], cwd=o.dir, env=o.env(), check=False,
                          capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)


def test_full_disk(o):
    whole = os.path.getsize(small_run(o)) // 1024
    result = on_small_disk(o, 16, "run", "-d", "sim:toy", "-p", "clock", "-o", "disk/full.fathom")
    if result is None:
        return "no file system can be mounted here"
    refused(result, DEVICE, "full.fathom")
    # Room for the first probe but not for all: what was stored before stays readable.
    result = on_small_disk(o, whole + 40, "run", "-d", "sim:toy", "-o", "disk/full.fathom")
    refused(result, DEVICE, "kept")
    accepted(o.run("report", o.path("kept/full.fathom")))
    return None


def test_run_file_that_is_taken_away(o):
    """Whatever becomes of the file under a run, the run is kept, told of, and not called well."""
    for how in ("removed", "cut"):
        path, kept = o.path(how + ".fathom"), o.path(how + "-kept-1.fathom")
        child = o.start("run", "-d", "sim:toy", "-p", "clock,barrier,shared_memory,branch,registers", "-o", path)
        # The first probe has begun, so the file has its writer.
        begun = ""
        while "[1/" not in begun and child.poll() is None:
            begun = child.stderr.readline()
        if how == "removed":
            os.unlink(path)
        else:
            os.truncate(path, 0)
        out, err = child.communicate(timeout=120)
        expect(child.returncode == FILE, f"{how}: exit {child.returncode}: {err}")
        expect("kept in " + kept in err, f"{how}: the kept file is not named: {err}")
        expect("wrote " + path + "\n" not in err and "report " + path + "\n" not in out, f"{how}: it says that it wrote what is gone")
        report = o.run("report", kept, "--format", "csv")
        accepted(report)
        expect("regfile." in report.stdout and "clock.read_latency,MEASURED" in report.stdout, f"{how}: {kept} lacks findings")


def test_figures_where_a_file_is(o):
    path = small_run(o)
    write(o.path("plain"), b"x")
    result = o.run("report", path, "--figures", o.path("plain"))
    refused(result, FILE, "plain")
    refused(o.run("report", path, "--figures", "/proc/figures"), DEVICE, "/proc/figures")


def test_figures_follow_no_link(o):
    path = small_run(o)
    accepted(o.run("report", path, "--figures", o.path("linked")))
    name = sorted(os.listdir(o.path("linked")))[0]
    write(o.path("precious"), b"precious")
    os.symlink(o.path("precious"), o.path("linked/" + name + ".part"))
    accepted(o.run("report", path, "--figures", o.path("linked")))
    with open(o.path("precious"), "rb") as f:
        expect(f.read() == b"precious", "a figure was written through a link")


def test_nothing_else_was_left(o):
    left = [n for n in os.listdir(o.dir) if n.endswith((".part", "-journal", "-wal", "-shm"))]
    expect(not left, f"left behind: {left}")


def main():
    tests = [value for name, value in globals().items() if name.startswith("test_")]
    return run_tests(Outside(FATHOM), tests)


if __name__ == "__main__":
    sys.exit(main())
