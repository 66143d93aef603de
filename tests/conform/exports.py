#!/usr/bin/env python3
"""What `fathom export` writes is what the run says, and programs that read such files take it.

Usage: exports.py FATHOM SOURCE
"""
import csv
import io
import json
import lzma
import os
import re
import shutil
import subprocess
import sys
import tempfile


def export(fathom, run, to):
    return subprocess.run([fathom, "export", run, "--to", to], check=True, capture_output=True, text=True).stdout


def ceilings(text, findings):
    got = json.loads(text)
    for c in got["peaks"] + got["bandwidths"]:
        f = findings[c["key"]]
        if c["verdict"] != f["verdict"] or not c["lo"] <= c["value"] <= c["hi"] or abs(c["lo"] / c["value"] - f["lo"] / f["value"]) > 1e-9:
            yield f"ceilings: {c}"
    if not {"fp32_fma", "fp64_add"} <= {c["name"] for c in got["peaks"]} or not {"l2", "memory"} <= {c["name"] for c in got["bandwidths"]}:
        yield "ceilings: some are missing"
    by_name = {c["name"]: c["value"] for c in got["bandwidths"]}
    if not by_name["shared"] > by_name["l1"] > by_name["l2"] > by_name["memory"] > 1000:
        yield f"ceilings: {by_name} are not in GB/s of the whole GPU"


def latencies(text, findings):
    rows = list(csv.DictReader(io.StringIO(text), delimiter="\t"))
    known = {k for k in findings if re.fullmatch(r"arith\.[^.]+\.[^.]+\.latency", k)}
    if {f"arith.{r['operation']}.{r['type']}.latency" for r in rows} != known:
        yield "latencies: not one line an operation"
    for r in rows:
        for what in ("latency", "issue", "throughput", "native_ops"):
            f = findings.get(f"arith.{r['operation']}.{r['type']}.{what}")
            has = f is not None and f["verdict"] in ("MEASURED", "LIKELY") and f["value"] is not None
            if has != bool(r[what]) or (has and abs(float(r[what]) - f["value"]) > 1e-5 * abs(f["value"])):
                yield f"latencies: {r['operation']}.{r['type']}: {what} is {r[what]}"


def openmetrics(text, findings):
    values = dict(re.findall(r'^fathom_finding\{key="([^"]+)".*\} (\S+)$', text, re.M))
    known = {k: f["value"] for k, f in findings.items() if f["verdict"] in ("MEASURED", "LIKELY") and isinstance(f["value"], (int, float))}
    if set(values) != set(known) or any(abs(float(values[k]) - v) > 1e-12 * abs(v) for k, v in known.items()):
        yield "openmetrics: not the findings' numbers"
    if not text.endswith("\n# EOF\n"):
        yield "openmetrics: no end"
    if shutil.which("promtool"):
        done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True)
        if done.returncode:
            yield f"promtool: {done.stdout}{done.stderr}"
    else:
        print("promtool is not installed: not asked")


def hwloc(text, findings):
    if not shutil.which("lstopo"):
        print("lstopo is not installed: not asked")
        return
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as f:
        f.write(text)
        f.flush()
        done = subprocess.run(["lstopo", "--input", f.name, "--of", "console"], capture_output=True, text=True)
    want = int(findings["device.sm_count"]["value"])
    if done.returncode or done.stdout.count("PU L#") != want or done.stdout.count("L2 L#") != 1 or done.stdout.count("Group0 L#") != 8:
        yield f"lstopo: {done.stdout[:300]}{done.stderr}"


# Options of Accel-Sim as its documents and option tables name them, and how many values each has between commas or colons.
ACCEL_SIM = {
    "-gpgpu_compute_capability_major": 1, "-gpgpu_compute_capability_minor": 1, "-gpgpu_ptx_force_max_capability": 1,
    "-gpgpu_n_clusters": 1, "-gpgpu_n_cores_per_cluster": 1, "-gpgpu_clock_domains": 4, "-gpgpu_shader_registers": 1,
    "-gpgpu_registers_per_block": 1, "-gpgpu_shader_core_pipeline": 2, "-gpgpu_shader_cta": 1, "-gpgpu_num_sched_per_core": 1,
    "-gpgpu_scheduler": 1, "-gpgpu_shmem_num_banks": 1, "-gpgpu_shmem_size": 1, "-gpgpu_shmem_sizeDefault": 1, "-gpgpu_shmem_per_block": 1,
    "-gpgpu_smem_latency": 1, "-gpgpu_unified_l1d_size": 1, "-gpgpu_l1_latency": 1, "-gpgpu_l2_rop_latency": 1, "-dram_latency": 1,
    "-gpgpu_kernel_launch_latency": 1, "-ptx_opcode_latency_int": 6, "-ptx_opcode_initiation_int": 6, "-ptx_opcode_latency_fp": 5,
    "-ptx_opcode_initiation_fp": 5, "-ptx_opcode_latency_dp": 5, "-ptx_opcode_initiation_dp": 5, "-ptx_opcode_latency_sfu": 1,
    "-ptx_opcode_initiation_sfu": 1, "-gpgpu_cache:dl1": 15, "-gpgpu_cache:dl2": 15, "-gpgpu_const_cache:l1": 13, "-gpgpu_cache:il1": 13,
    "-gpgpu_tex_cache:l1": 14, "-gpgpu_sub_core_model": 1, "-gpgpu_gmem_skip_L1D": 1, "-gpgpu_adaptive_cache_config": 1,
    "-gpgpu_shmem_option": 7, "-trace_opcode_latency_initiation_int": 2, "-trace_opcode_latency_initiation_sp": 2,
    "-trace_opcode_latency_initiation_dp": 2, "-trace_opcode_latency_initiation_sfu": 2}


def accel_sim_refuses(said):
    """What GPGPU-Sim's configuration code ends the program for (gpu-cache.h, hashing.cc, shader.cc)."""
    value = {option: line.split()[1] for option, line in said.items() if line.startswith("-")}
    for option in ("-gpgpu_cache:dl1", "-gpgpu_cache:dl2", "-gpgpu_const_cache:l1", "-gpgpu_cache:il1", "-gpgpu_tex_cache:l1"):
        kind, sets, line, ways, hashed = re.match(r"(.):(\d+):(\d+):(\d+),.:.:.:.:(.)", value.get(option, "N:1:128:1,L:R:f:N:L")).groups()
        sets, line, ways = int(sets), int(line), int(ways)
        if sets & (sets - 1) or (hashed == "P" and sets not in (16, 32, 64)) or (kind == "S" and line != 128):
            yield f"accel-sim: refused: {said[option]}"
        if option == "-gpgpu_cache:dl1" and int(value.get("-gpgpu_unified_l1d_size", 128)) % (sets * line * ways // 1024 if option in value else 32):
            yield f"accel-sim: no multiple of its first level: {said['-gpgpu_unified_l1d_size']}"
    if value["-gpgpu_adaptive_cache_config"] == "1":
        shared = [int(v) for v in value["-gpgpu_shmem_option"].split(",")]
        if int(value.get("-gpgpu_shmem_size", 98304)) > 1024 * shared[-1] or shared[-1] > int(value.get("-gpgpu_unified_l1d_size", 128)):
            yield f"accel-sim: no room for shared memory: {said['-gpgpu_shmem_option']}"


def accel_sim(text, findings):
    said = {}
    for line in text.splitlines():
        option = re.match(r"(?:# )?(-[\w:]+)", line)
        if not option:
            continue
        said[option[1].rstrip(":")] = line
        set_to = re.fullmatch(r"-\S+ (\S+) # (.+)", line)
        if line.startswith("-"):
            if not set_to or not re.match(r"measured|estimate|bound|told by|as |taken from", set_to[2]):
                yield f"accel-sim: says not where it is from: {line}"
            elif len(re.split("[,:]", set_to[1])) != ACCEL_SIM.get(option[1]):
                yield f"accel-sim: not the values that the option has: {line}"
        elif not re.search(r": taken from \S+; \S+ is (ABSENT|not known)$", line):
            yield f"accel-sim: says not what is not known: {line}"
        verdicts = {"measured": "MEASURED", "estimate": "LIKELY", "bound": "BOUND"}
        for how, key in re.findall(r"(measured|estimate|bound): ([\w.]+)", line):
            key = key if "." in key else None
            if key and findings[key]["verdict"] != verdicts[how]:
                yield f"accel-sim: {key} is {findings[key]['verdict']}: {line}"
    yield from accel_sim_refuses(said)
    if set(said) != set(ACCEL_SIM):
        yield f"accel-sim: {sorted(set(said) ^ set(ACCEL_SIM))}"
    for option, key in (("-gpgpu_n_clusters", "device.sm_count"), ("-gpgpu_smem_latency", "shared.latency"), ("-gpgpu_shmem_size", "shared.size")):
        if float(said[option].split()[1]) != findings[key]["value"]:
            yield f"accel-sim: {said[option]}"


def main():
    fathom, source = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        run = os.path.join(folder, "h200.fathom")
        with lzma.open(os.path.join(source, "tests", "recorded", "h200.fathom.xz")) as packed, open(run, "wb") as f:
            shutil.copyfileobj(packed, f)
        report = json.loads(subprocess.run([fathom, "report", run, "--format", "json"], check=True, capture_output=True).stdout)
        findings = {f["key"]: f for f in report["findings"]}
        wrong = [w for check in (accel_sim, ceilings, hwloc, latencies, openmetrics)
                 for w in check(export(fathom, run, check.__name__.replace("_", "-")), findings)]
    print(f"5 formats, {len(wrong)} complaints", *wrong, sep="\n")
    return 1 if wrong else 0


sys.exit(main())
