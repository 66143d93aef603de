#!/usr/bin/env python3
"""Thirteen simulated cards under Slurm, one with a slower L2: `fathom fleet` names it, and the exit code is 1.

Slurm is two slurmd, a slurmctld and a munged of this test's own, in its own folder and on its own ports. Without them
the test is skipped.

Usage: slurm.py FATHOM SOURCE-ROOT
"""
import getpass
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

CARDS, SLOW = 13, 8
NEEDED = ("slurmctld", "slurmd", "srun", "sinfo", "munged")
SKIPPED = 77


def which(name):
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def free_ports(n):
    held = [socket.socket() for _ in range(n)]
    for s in held:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in held]
    for s in held:
        s.close()
    return ports


CONF = """ClusterName=simulated
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={control}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={top}/munge.socket
CredType=cred/munge
StateSaveLocation={top}/state
SlurmdSpoolDir={top}/spool-%n
SlurmctldPidFile={top}/slurmctld.pid
SlurmdPidFile={top}/slurmd-%n.pid
SlurmctldLogFile={top}/slurmctld.log
SlurmdLogFile={top}/slurmd-%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
SwitchType=switch/none
NodeName=node1 NodeHostname={host} NodeAddr=127.0.0.1 Port={one} CPUs=8
NodeName=node2 NodeHostname={host} NodeAddr=127.0.0.1 Port={two} CPUs=8
PartitionName=cards Nodes=node1,node2 Default=YES State=UP
"""


class Slurm:
    def __init__(self, top):
        self.top, self.started = top, []
        control, one, two = free_ports(3)
        os.makedirs(f"{top}/state")
        with open(f"{top}/slurm.conf", "w") as f:
            f.write(CONF.format(top=top, host=socket.gethostname().split(".")[0], user=getpass.getuser(), control=control, one=one, two=two))
        with open(f"{top}/cgroup.conf", "w") as f:
            f.write("CgroupPlugin=autodetect\nIgnoreSystemd=yes\n")
        self.env = dict(os.environ, SLURM_CONF=f"{top}/slurm.conf")

    def start(self, *words):
        log = open(f"{self.top}/{os.path.basename(words[0])}.out", "a")
        self.started.append(subprocess.Popen(words, env=self.env, stdout=log, stderr=log, start_new_session=True))

    def begin(self):
        top = self.top
        with open(f"{top}/munge.key", "wb") as f:
            f.write(os.urandom(128))
        os.chmod(f"{top}/munge.key", 0o400)
        self.start(which("munged"), "--foreground", "--force", f"--key-file={top}/munge.key", f"--socket={top}/munge.socket",
                   f"--pid-file={top}/munged.pid", f"--log-file={top}/munged.log", f"--seed-file={top}/munged.seed", "--num-threads=2")
        until = time.monotonic() + 20
        while not os.path.exists(f"{top}/munge.socket") and time.monotonic() < until:
            time.sleep(0.05)
        self.start(which("slurmctld"), "-D", "-f", f"{top}/slurm.conf")
        for node in ("node1", "node2"):
            self.start(which("slurmd"), "-D", "-N", node, "-f", f"{top}/slurm.conf")
        until = time.monotonic() + 40
        while time.monotonic() < until:
            seen = subprocess.run([which("sinfo"), "-h", "-o", "%t %D"], env=self.env, capture_output=True, text=True)
            if seen.stdout.split() == ["idle", "2"]:
                return True
            time.sleep(0.2)
        return False

    def why(self):
        said = []
        for name in sorted(os.listdir(self.top)):
            if name.endswith((".log", ".out")):
                with open(f"{self.top}/{name}", errors="replace") as f:
                    said += [f"{name}: {line.strip()}" for line in f.readlines()[-6:]]
        return "\n".join(said)

    def end(self):
        for child in reversed(self.started):
            child.terminate()
        for child in self.started:
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()


def cards(folder, toy):
    """Thirteen descriptions; one has an L2 that is a tenth slower."""
    os.makedirs(folder)
    for i in range(CARDS):
        text = toy
        if i == SLOW:
            text, n = re.subn(r"(?m)^(cache\.global\.l2\.latency = )(\d+)", lambda m: m[1] + str(int(m[2]) * 11 // 10), toy)
            assert n == 1
        with open(f"{folder}/card{i}.gpu", "w") as f:
            f.write(text)


def main():
    fathom, root = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    missing = [name for name in NEEDED if not which(name)]
    if missing:
        print(f"skipped: {', '.join(missing)} of Slurm and munge are not installed")
        sys.exit(SKIPPED)
    toy = open(f"{root}/gpus/toy.gpu").read()
    wrong = []
    with tempfile.TemporaryDirectory(prefix="slurm") as top:
        os.chmod(top, 0o755)
        slurm = Slurm(top)
        try:
            if not slurm.begin():
                print(f"skipped: Slurm does not start here\n{slurm.why()}")
                sys.exit(SKIPPED)
            work = f"{top}/work"
            cards(f"{work}/gpus", toy)
            os.makedirs(f"{work}/runs")
            os.chdir(work)
            job = f"{fathom} run --threads 1 -p global_cache -d sim:gpus/card$SLURM_PROCID.gpu -o runs/%h-$SLURM_PROCID.fathom"
            done = subprocess.run([which("srun"), "-N2", f"-n{CARDS}", "--overcommit", "sh", "-c", job], env=slurm.env, capture_output=True, text=True)
            if done.returncode:
                wrong.append(f"srun: exit {done.returncode}: {done.stderr[-2000:]}")
            fleet = subprocess.run([fathom, "fleet", "runs", "--format", "json"], capture_output=True, text=True)
            said = json.loads(fleet.stdout)
            apart = {o["file"] for o in said["outliers"]}
            if fleet.returncode != 1 or len(said["cards"]) != CARDS or len(apart) != 1 or not apart.pop().endswith(f"-{SLOW}.fathom"):
                wrong.append(f"fleet: exit {fleet.returncode}: {said['outliers']}: {fleet.stderr}")
            if "cache.global.l2.latency" not in {o["key"] for o in said["outliers"]}:
                wrong.append(f"fleet: the latency of the L2 is not named: {said['outliers']}")
        finally:
            slurm.end()
            os.chdir("/")
    sys.exit("\n".join(wrong) or 0)


main()
