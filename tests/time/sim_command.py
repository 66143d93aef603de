"""fathom sim: a kernel of the user's, its words, its cycles, its trace, and what it refuses."""
import ast
import json
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time

FATHOM = sys.argv[1]
KERNEL = """.version 6.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n, .param .f32 x)
{
	.reg .b32 %t, %a, %b;
	.reg .b64 %o, %w;
	.reg .f32 %f;
	ld.param.u64 %o, [out];
	ld.param.u32 %a, [n];
	ld.param.f32 %f, [x];
	cvt.rni.u32.f32 %b, %f;
	add.u32 %a, %a, %b;
	mov.u32 %t, %tid.x;
	mul.wide.u32 %w, %t, 4;
	add.u64 %o, %o, %w;
	mad.lo.u32 %t, %t, 10, %a;
	st.global.u32 [%o], %t;
	ret;
}
"""
SEVERAL = """.version 6.0
.target sm_70
.address_size 64
.global .u32 calls;
.visible .entry add(.param .u64 x, .param .u64 y, .param .u32 n)
{
	.reg .b32 %t, %a, %b, %c;
	.reg .b64 %x, %y, %w;
	.reg .pred %p;
	ld.param.u64 %x, [x];
	ld.param.u64 %y, [y];
	ld.param.u32 %a, [n];
	mov.u32 %t, %tid.x;
	mov.u32 %c, %ctaid.x;
	mad.lo.u32 %t, %c, 8, %t;
	setp.ge.u32 %p, %t, %a;
	@%p ret;
	mul.wide.u32 %w, %t, 4;
	add.u64 %x, %x, %w;
	add.u64 %y, %y, %w;
	ld.global.u32 %a, [%x];
	ld.global.u32 %b, [%y];
	add.u32 %b, %a, %b;
	st.global.u32 [%y], %b;
	atom.global.add.u32 %a, [calls], 1;
	ret;
}
.visible .entry tell(.param .u64 y)
{
	.reg .b32 %a;
	.reg .b64 %y;
	ld.param.u64 %y, [y];
	ld.global.u32 %a, [calls];
	st.global.u32 [%y+4], %a;
	ret;
}
"""
LAUNCHES = """# y += x, twice
buffer x fill:16:3
buffer y out:16
launch add grid=2 block=8 x y 16
launch add grid=2 block=8 x y 16 # again
launch tell grid=1 block=1 y
"""
RACE = """.version 6.0
.target sm_70
.address_size 64
.visible .entry race(.param .u64 out)
{
	.reg .b32 %t, %a, %b;
	.reg .b64 %o, %w;
	.shared .align 4 .b8 room[260];
	ld.param.u64 %o, [out];
	mov.u32 %t, %tid.x;
	mul.wide.u32 %w, %t, 4;
	add.u64 %o, %o, %w;
	mov.u32 %a, room;
	mad.lo.u32 %a, %t, 4, %a;
	st.shared.u32 [%a], %t;
	ld.shared.u32 %b, [%a+4];
	st.global.u32 [%o], %b;
	ret;
}
"""
failures = []


def run(*args):
    p = subprocess.run([FATHOM, "sim", *args], capture_output=True, text=True, timeout=60, check=False)
    return p.returncode, p.stdout, p.stderr


def check(what, right, seen=""):
    if not right:
        failures.append(f"{what}: {seen}")


def refused(what, result, code, *words):
    rc, out, err = result
    lines = err.strip().splitlines()
    check(what, rc == code and len(lines) == 1 and all(w in err for w in words), f"exit {rc}, {err!r}")


with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "k.ptx")
    with open(path, "w", encoding="ascii") as f:
        f.write(KERNEL)
    place = [path, "--gpu", "toy", "--grid", "1", "--block", "8"]
    values = ["--arg", "out:8", "--arg", "0x10", "--arg", "3.0"]

    rc, out, err = run(*place, *values)
    check("runs", rc == 0 and "outcome       OK" in out and not err, f"exit {rc}, {out!r}, {err!r}")
    words = [int(w) for line in out.splitlines() if re.match(r" +\d+:", line) for w in line.split(":")[1].split()]
    check("words", words == [19 + 10 * t for t in range(8)], words)

    array, back = os.path.join(folder, "o.npy"), os.path.join(folder, "copy.ptx")
    rc, said, err = run(*place, "--arg", "out:8:" + array, *values[2:], "--out-type", "s32")
    with open(array, "rb") as f:
        data = f.read()
    length = 10 + int.from_bytes(data[8:10], "little")
    header = ast.literal_eval(data[10:length].decode("ascii"))
    check("an array", rc == 0 and data[:8] == b"\x93NUMPY\x01\x00" and length % 64 == 0 and header["shape"] == (8,) and header["descr"] == "<i4" and
          struct.unpack("<8i", data[length:]) == tuple(19 + 10 * t for t in range(8)) and "words" not in said, f"exit {rc}, {data!r}, {err!r}")
    with open(back, "w", encoding="ascii") as f:
        f.write(KERNEL.replace(".param .u32 n", ".param .u64 n").replace("ld.param.u32 %a, [n];", "ld.param.u64 %w, [n]; ld.global.u32 %a, [%w+28];"))
    rc, said, err = run(back, *place[1:], "--arg", "out:8", "--arg", "in:" + array, "--arg", "3.0")
    check("an array that is read", rc == 0 and " 92 " in said, f"exit {rc}, {said!r}, {err!r}")
    with open(array, "wb") as f:
        f.write(data[:40])
    with open(back, "w", encoding="ascii") as f:
        f.write(KERNEL.replace("ret;", "L: bra L;").replace("st.global", "add.u32 %a, %a, 1; st.global").replace("L: bra L", "L: add.u32 %a, %a, 1; bra L"))
    rc, said, err = run(back, *place[1:], *values, "--limit", "20000")
    took = int(re.search(r"cycles +(\d+)", said).group(1))
    check("a limit of cycles", rc == 1 and " 89\n" in said and "cycles" in err and 20000 <= took < 60000, f"exit {rc}, {said!r}, {err!r}")
    rc, said, err = run(back, *place[1:], *values, "--limit-instructions", "5000")
    took = int(re.search(r"instructions +(\d+)", said).group(1))
    check("a limit of instructions", rc == 1 and " 89\n" in said and "instructions" in err and 5000 <= took < 10000, f"exit {rc}, {said!r}, {err!r}")
    with subprocess.Popen([FATHOM, "sim", back, *place[1:], *values], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as p:
        time.sleep(0.5)
        p.send_signal(signal.SIGINT)
        said, err = p.communicate(timeout=60)
    check("Ctrl-C", p.returncode == 130 and " 89\n" in said and "stopped after" in err, f"exit {p.returncode}, {said!r}, {err!r}")

    # Several launches over one memory: what one leaves, and what the text's variables hold, the next finds.
    several, list_of = os.path.join(folder, "several.ptx"), os.path.join(folder, "launches.txt")
    with open(several, "w", encoding="ascii") as f:
        f.write(SEVERAL)
    for text, code, words in ((LAUNCHES, 0, []), (LAUNCHES.replace("tell grid", "none grid"), 4, [":6:", "none"]), (LAUNCHES.replace(" 16\n", " y16\n"), 4, [":4:", "y16"]),
                              (LAUNCHES.replace("fill", "full"), 4, [":2:", "full"]), (LAUNCHES.replace("block=8", "block=0"), 4, [":4:", "block="]),
                              (LAUNCHES.replace("buffer y", "buffer x"), 4, [":3:", "already"]), ("# nothing\n", 4, ["launches nothing"]), ("lunch\n", 4, [":1:", "lunch"])):
        with open(list_of, "w", encoding="ascii") as f:
            f.write(text)
        result = run(several, "--gpu", "toy", "--launches", list_of)
        if code:
            refused("a launch file", result, code, *words)
        else:
            words = [int(w) for line in result[1].splitlines() if re.match(r" +\d+:", line) for w in line.split(":")[1].split()]
            check("several launches", result[0] == 0 and words == [6, 32] + [6] * 14 and result[1].count("outcome       OK") == 3, result)

    # --check: line 22 reads y before anybody has written there, in the first launch alone; RACE is wrong at one line in two ways.
    for lines, code, words in (([0, 1, 2, 3, 5], 1, ["line 22", "0x10000100 are read and were never written; thread (0,0,0) of block (0,0,0)"]),
                               ([0, 1, 2, 3, 3, 5], 1, ["line 22"]), ([0, 1, 6, 3, 5], 0, [])):
        with open(list_of, "w", encoding="ascii") as f:
            f.write("\n".join((LAUNCHES + "buffer y fill:16:0\n").splitlines()[n] for n in lines) + "\n")
        rc, said, err = run(several, "--gpu", "toy", "--launches", list_of, "--check")
        check("reads of what was never written", rc == code and all(w in said for w in words) and said.count("wrong  ") == len(words[:1]) and
              (not code or "16 accesses are wrong, at 1 places" in err), f"exit {rc}, {said!r}, {err!r}")
    with open(os.path.join(folder, "race.ptx"), "w", encoding="ascii") as f:
        f.write(RACE)
    for threads, words in (("64", ["shared memory at 256 is read and was never written", "warps write and read shared memory at 128,"]), ("32", ["at 128 is read and was never"])):
        rc, said, err = run(f.name, "--gpu", "toy", "--grid", "1", "--block", threads, "--arg", "out:64", "--check")
        check("a race", rc == 1 and all(w in said for w in words) and said.count("wrong  ") == len(words), f"exit {rc}, {said!r}, {err!r}")
    refused("a grid beside a launch file", run(*place, "--launches", list_of), 2, "--grid", "launches.txt")
    refused("no grid", run(path, "--gpu", "toy", *values), 2, "--grid", "missing")

    refused("a damaged array", run(back, *place[1:], "--arg", "out:8", "--arg", "in:" + array, "--arg", "3.0"), 4, "o.npy", ".npy")
    cycles = re.search(r"cycles +(\d+)", out)
    check("cycles", cycles and int(cycles.group(1)) > 0, out)
    check("the same again", run(*place, *values)[1] == out)

    rc, traced, err = run(*place, *values, "--trace")
    steps = re.findall(r"^ +(\d+)  sm (\d+) +warp (\d+) +([0-9a-f]{8}) +(\d+): (.*)$", traced, re.M)
    check("trace", rc == 0 and len(steps) == 11 and traced.endswith(out), traced)
    check("trace in order", [int(s[4]) for s in steps] == list(range(9, 20)), steps)
    check("trace of lanes", all(s[3] == "000000ff" for s in steps), steps)
    check("trace shows the source", bool(steps) and steps[-1][5] == "ret;", steps[-1:])

    # What a trace says, to the letter, and the same as Chrome trace events. It changes nothing.
    golden = os.path.join(os.path.dirname(os.path.abspath(__file__)), "trace-toy.ptx")
    place2 = [golden, "--gpu", "toy", "--grid", "1", "--block", "64", "--arg", "out:64"]
    text, events = os.path.join(folder, "trace.txt"), os.path.join(folder, "trace.json")
    plain = run(*place2)
    rc, out, err = run(*place2, "--trace")
    with open(golden.replace(".ptx", ".txt"), encoding="ascii") as f:
        check("golden trace", (rc, out) == (0, f.read() + plain[1]), out)
    rc, out, err = run(*place2, "--trace", text)
    with open(text, encoding="ascii") as f, open(golden.replace(".ptx", ".txt"), encoding="ascii") as g:
        check("trace to a file", (rc, out) == (0, plain[1]) and f.read() == g.read(), err)
    rc, out, err = run(*place2, f"--trace={events}")
    check("trace as JSON", (rc, out) == (0, plain[1]), err)
    with open(events, encoding="utf-8") as f:
        trace = json.load(f)["traceEvents"]
    # What the trace event format wants of each phase, and nothing else of those that it defines: a viewer may pass an event by.
    wants = {"X": {"ts", "dur", "cat", "args"}, "M": {"args"}, "b": {"ts", "cat", "id"}, "e": {"ts", "cat", "id"}}
    check("fields", all({"ph", "pid", "tid", "name"} | wants.get(e["ph"], {"of no phase"}) == set(e) for e in trace))
    check("numbers", all(type(e[k]) is int and e[k] >= 0 for e in trace for k in ("ts", "dur", "pid", "tid") if k in e))
    check("metadata", all(e["name"] in ("process_name", "thread_name") and list(e["args"]) == ["name"]
                          for e in trace if e["ph"] == "M"))
    issues = [e for e in trace if e["ph"] == "X" and e["cat"] != "wait"]
    waits = [e for e in trace if e["ph"] == "X" and e["cat"] == "wait"]
    lines = open(golden.replace(".ptx", ".txt"), encoding="ascii").read().splitlines()
    check("an event an issue", len(issues) == len(lines) and len(waits) == sum("waited" in x for x in lines))
    check("cycles", [e["ts"] for e in issues] == [int(x.split()[0]) for x in lines])
    check("hits", any(e["args"].get("where") == "global.l1 x4" for e in issues), issues)
    check("conflicts", any(e["args"].get("bank_passes") == 2 for e in issues), issues)
    tracks = {(e["pid"], e["tid"]) for e in issues}
    named = {(e["pid"], e["tid"]) for e in trace if e["name"] == "thread_name"}
    check("names", tracks == named and len(tracks) == 2, (tracks, named))
    for track in tracks:  # slices of one track follow each other, as the viewer wants them
        own = sorted((e["ts"], e["ts"] + e["dur"]) for e in issues + waits if (e["pid"], e["tid"]) == track)
        check("one after another", all(a[1] <= b[0] for a, b in zip(own, own[1:])), own)
    begun = {e["id"]: e["ts"] for e in trace if e["ph"] == "b"}
    ended = {e["id"]: e["ts"] for e in trace if e["ph"] == "e"}
    check("in flight", begun.keys() == ended.keys() and all(begun[k] < ended[k] for k in begun) and len(begun) == 4)
    # The same of instructions that issue together, of long ones, and of blocks that follow each other in one place.
    pairs = os.path.join(folder, "pairs.ptx")
    with open(pairs, "w", encoding="ascii") as f:
        f.write(".version 6.0\n.target sm_10\n.address_size 64\n.visible .entry k()\n{\n\t.reg .b32 %g;\n\t.reg .f32 %x;\n"
                "\tmov.u32 %g, %tid.x;\n\tcvt.rn.f32.u32 %x, %g;\n" +
                "\tsin.approx.f32 %x, %x;\n\tdiv.u32 %g, %g, 3;\n\tadd.f32 %x, %x, %x;\n\tadd.u32 %g, %g, 1;\n" * 8 +
                "\tret;\n}\n")
    for gpu, together in (("gtx560ti", True), ("toy", False)):
        rc, out, err = run(pairs, "--gpu", gpu, "--grid", "60", "--block", "64", f"--trace={events}")
        check("trace of pairs", rc == 0, err)
        with open(events, encoding="utf-8") as f:
            trace = json.load(f)["traceEvents"]
        slices = sorted((e["pid"], e["tid"], e["ts"], e["ts"] + e["dur"]) for e in trace if e["ph"] == "X")
        check("slices of a track", all(a[:2] != b[:2] or a[3] <= b[2] for a, b in zip(slices, slices[1:])), gpu)
        check("no empty slice", all(s[2] < s[3] for s in slices))
        check("tracks beside", any(e["name"] == "thread_name" and e["args"]["name"].endswith(", issued together")
                                   for e in trace) == together, gpu)

    refused("no such folder", run(*place2, "--trace", os.path.join(folder, "none", "x.json")), 4, "x.json")

    # Buffers with content, structs, shared memory, and how words are printed.
    many = os.path.join(folder, "many.ptx")
    with open(many, "w", encoding="ascii") as f:
        f.write(".version 6.0\n.target sm_70\n.address_size 64\n.extern .shared .b32 s[];\n.visible .entry k(.param .u64 o, .param .u64 a, .param .u64 b, .param .u64 c, "
                ".param .u64 d, .param .align 4 .b8 z[12])\n{ .reg .b32 %r, %x; .reg .f32 %f; .reg .b64 %o, %p;\n ld.param.u64 %o, [o];\n" +
                "".join(f"ld.param.u64 %p, [{p}]; ld.global.u32 %r, [%p+4]; st.global.u32 [%o+{4 * k}], %r;\n" for k, p in enumerate("abcd")) +
                "ld.param.u32 %r, [z+4]; st.global.u32 [%o+16], %r; mov.u32 %x, %dynamic_smem_size; st.shared.u32 [s+8], %x; ld.shared.u32 %r, [s+8];\n"
                "st.global.u32 [%o+20], %r; ret; }\n")
    raw = os.path.join(folder, "raw")
    with open(raw, "wb") as f:
        f.write(bytes([1, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff, 9]))
    place3 = [many, "--gpu", "toy", "--grid", "1", "--block", "1", "--arg", "out:6", "--arg", f"in:{raw}", "--arg", "fill:2:7", "--arg", "random:2:5",
              "--arg", "uniform:2:5", "--arg", "bytes:00000000ff000000", "--shared", "64"]
    rc, out, err = run(*place3, "--out-type", "s32")
    words = [int(w) for line in out.splitlines() if re.match(r" +\d+:", line) for w in line.split(":")[1].split()]
    check("buffers", rc == 0 and words[:2] == [-2, 7] and words[4:] == [255, 64], (out, err))
    check("seeds", run(*place3) == run(*place3) and run(*place3) != run(*[a.replace("random:2:5", "random:2:6") for a in place3]))
    rc, out, err = run(*place3, "--out-type", "f32")
    check("floats", rc == 0 and 0 <= float(re.search(r"0:(.*)", out).group(1).split()[3]) < 1, out)
    refused("no such file", run(*[a.replace(raw, raw + "x") for a in place3]), 4, "rawx")
    refused("no seed", run(*[a.replace("random:2:5", "random:2") for a in place3]), 2, "random:WORDS:SEED")
    refused("no type", run(*place3, "--out-type", "u8"), 2, "u8")

    refused("few arguments", run(*place, "--arg", "out:8"), 2, "takes 3 arguments, not 1")
    refused("a file of another kind", run(*place, "--arg", "out:8", "--stats", "out.txt"), 2, "--stats takes a file whose name ends in .json")
    refused("no number", run(*place, "--arg", "out:8", "--arg", "seven", "--arg", "1"), 2, "seven")
    refused("no size", run(*place, "--arg", "out:none", "--arg", "7", "--arg", "1"), 2, "none")
    refused("too large", run(*place, "--arg", "out:8", "--arg", "5000000000", "--arg", "1"), 2, "5000000000")
    refused("no grid", run(path, "--gpu", "toy", "--grid", "1,x", "--block", "8", *values), 2, "1,x")
    refused("no such GPU", run(path, "--gpu", "toi", "--grid", "1", "--block", "8", *values), 2, "toi")
    rc, out, err = run(*place, "--arg", "out:4", "--arg", "7", "--arg", "1")
    check("outside its buffer", rc == 1 and "CRASH" in out and "line 18: illegal address" in err, f"exit {rc}, {err!r}")
    rc, out, err = run(path, "--gpu", "toy", "--grid", "1", "--block", "4096", *values)
    check("too large a block", rc == 1 and "REFUSED" in out and "4096" in err, f"exit {rc}, {err!r}")

    spin = os.path.join(folder, "spin.ptx")
    with open(spin, "w", encoding="ascii") as f:
        f.write(".version 6.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\nL:\n\tbra L;\n}\n")
    rc, out, err = run(spin, "--gpu", "toy", "--grid", "1", "--block", "64")
    check("a deadlock", rc == 1 and "outcome       DEADLOCK" in out and "2 go round the loop of line 7" in err,
          f"exit {rc}, {out!r}, {err!r}")

    count = os.path.join(folder, "count.ptx")
    with open(count, "w", encoding="ascii") as f:
        f.write(".version 6.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n\t.reg .b32 %i;\nL:\n"
                "\tadd.u32 %i, %i, 1;\n\tbra L;\n}\n")
    rc, out, err = run(count, "--gpu", "toy", "--grid", "1", "--block", "64", "--time-limit", "0.1")
    check("a kernel that never ends", rc == 1 and "outcome       TIMEOUT" in out and
          re.search(r"line [89]: still running after 100 ms", err), f"exit {rc}, {out!r}, {err!r}")
    rc, out, err = run(path, "--gpu", "toy", "--grid", "1", "--block", "8", *values, "--time-limit", "none")
    check("no limit", rc == 2 and "time-limit" in err, f"exit {rc}, {err!r}")

for line in failures:
    print(line)
print(f"{len(failures)} failed")
sys.exit(1 if failures else 0)
