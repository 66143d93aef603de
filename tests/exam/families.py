"""GPUs like those of real families, as .gpu text: a second generator, which shares nothing with spec_random.c.

Each family is a row of parts that were sold, from vendors' data sheets (SMs, clock, memory, its rate, its last cache). It also has what
papers have measured on them:

  Tesla                           Wong 2010
  Fermi, Kepler                   Mei 2014 and Lashgar 2015
  Maxwell                         Mei and Chu 2017
  Volta, Turing                   Jia 2018 and 2019
  Ampere, Ada, Hopper, GCN, RDNA  Luo 2024 and Chips and Cheese

A GPU is one of the parts, moved. SMs, clock, memory's rate and last cache go together: a part with some of its memory switched off has less
of each. Latencies move with the clock; what is a family's own does not.
"""
import random

SOURCE = "guess: drawn around the parts of its family"
NAMES = ["tesla", "fermi", "kepler", "maxwell", "pascal", "volta", "turing", "ampere", "ada", "hopper", "gcn", "rdna"]

# Parts: SMs, MHz, memory in MB, GB/s, last cache in KB (0: none).
PARTS = {
    "tesla": [(16, 1350, 768, 86, 0), (14, 1512, 512, 58, 0), (24, 1242, 896, 112, 0), (30, 1296, 1024, 142, 0), (12, 1375, 1024, 54, 0)],
    "fermi": [(14, 1150, 3072, 144, 768), (15, 1401, 1536, 177, 768), (7, 1350, 1024, 98, 512), (8, 1645, 1024, 128, 512), (4, 1566, 1024, 58, 256)],
    "kepler": [(8, 1006, 2048, 192, 512), (13, 706, 5120, 208, 1280), (12, 863, 3072, 288, 1536), (15, 745, 12288, 288, 1536), (2, 1006, 1024, 40, 256)],
    "maxwell": [(5, 1020, 2048, 86, 2048), (13, 1050, 4096, 224, 1792), (16, 1126, 4096, 224, 2048), (24, 1000, 12288, 336, 3072), (3, 993, 2048, 29, 1024)],
    "pascal": [(10, 1506, 6144, 192, 1536), (20, 1607, 8192, 320, 2048), (28, 1480, 11264, 484, 2816), (6, 1290, 4096, 112, 1024), (56, 1328, 16384, 732, 4096)],
    "volta": [(80, 1530, 16384, 900, 6144), (80, 1455, 12288, 653, 4608), (80, 1380, 32768, 900, 6144)],
    "turing": [(40, 1590, 16384, 320, 4096), (46, 1620, 8192, 448, 4096), (68, 1545, 11264, 616, 5632), (22, 1770, 6144, 288, 1536), (14, 1590, 4096, 128, 1024)],
    "ampere": [(108, 1410, 40960, 1555, 40960), (82, 1695, 24576, 936, 6144), (46, 1725, 8192, 448, 4096), (28, 1777, 12288, 360, 3072), (20, 1552, 4096, 224, 2048)],
    "ada": [(76, 2505, 16384, 717, 65536), (60, 2475, 12288, 504, 49152), (34, 2535, 8192, 288, 32768), (24, 2460, 8192, 272, 24576), (58, 2040, 24576, 300, 49152)],
    "hopper": [(132, 1980, 81920, 3350, 51200), (114, 1755, 81920, 2039, 51200), (132, 1980, 98304, 4000, 61440)],
    "gcn": [(32, 925, 3072, 264, 768), (20, 1000, 2048, 154, 512), (44, 1000, 4096, 320, 1024), (36, 1266, 8192, 256, 2048), (64, 1546, 8192, 484, 4096)],
    "rdna": [(40, 1755, 8192, 448, 4096), (22, 1717, 8192, 224, 2048), (60, 2105, 16384, 512, 4096), (28, 2491, 8192, 224, 2048), (32, 2044, 8192, 256, 2048)],
}

# cc, PTX, SMs a cluster, schedulers, cycles between two of their instructions, threads a block, threads, blocks an SM, warp
CORE = {
    "tesla": (13, "1.4", (2, 3), 1, 2, 512, 1024, 8, 32),
    "fermi": (20, "2.3", (1, 4), 2, 2, 1024, 1536, 8, 32),
    "kepler": (35, "3.2", (1, 3), 4, 1, 1024, 2048, 16, 32),
    "maxwell": (52, "4.3", (1, 5), 4, 1, 1024, 2048, 32, 32),
    "pascal": (61, "5.0", (1, 5), 4, 1, 1024, 2048, 32, 32),
    "volta": (70, "6.0", (2, 2), 4, 1, 1024, 2048, 32, 32),
    "turing": (75, "6.3", (2, 2), 4, 1, 1024, 1024, 16, 32),
    "ampere": (80, "7.0", (2, 2), 4, 1, 1024, 2048, 32, 32),
    "ada": (89, "7.8", (2, 2), 4, 1, 1024, 1536, 24, 32),
    "hopper": (90, "7.8", (2, 2), 4, 1, 1024, 2048, 32, 32),
    "gcn": (20, "2.3", (2, 4), 4, 4, 256, 2560, 16, 64),
    "rdna": (70, "6.0", (2, 10), 4, 1, 1024, 2048, 32, 32),
}

# Simple operations: cycles; additions, products of integers, of f32, f64, f16 and special functions a cycle; cycles of those and of f64
ARITH = {
    "tesla": dict(simple=24, integer=7.9, product=1.7, single=7.9, double=1.0, special=2.0, slow=28, twice=48),
    "fermi": dict(simple=18, integer=32, product=16, single=32, double=4, special=4, slow=22, twice=24),
    "kepler": dict(simple=9, integer=160, product=32, single=192, double=64, special=32, slow=13, twice=10),
    "maxwell": dict(simple=6, integer=128, product=43, single=128, double=4, special=32, slow=13, twice=48),
    "pascal": dict(simple=6, integer=128, product=43, single=128, double=4, special=32, slow=13, twice=48),
    "volta": dict(simple=4, integer=64, product=64, single=64, double=32, special=16, slow=18, twice=8),
    "turing": dict(simple=4, integer=64, product=64, single=64, double=2, special=16, slow=18, twice=48),
    "ampere": dict(simple=4, integer=64, product=64, single=128, double=32, special=16, slow=18, twice=8),
    "ada": dict(simple=4, integer=64, product=64, single=128, double=2, special=16, slow=18, twice=44),
    "hopper": dict(simple=4, integer=64, product=64, single=128, double=64, special=16, slow=17, twice=8),
    "gcn": dict(simple=6, integer=64, product=16, single=64, double=4, special=16, slow=18, twice=66),
    "rdna": dict(simple=5, integer=128, product=32, single=128, double=8, special=32, slow=10, twice=20),
}

# Shared memory in KB, a block's, its latency, banks; registers; clock reads; barrier
SM = {
    "tesla": ((16,), 16, 38, 16, 16384, 28, 20),
    "fermi": ((16, 48), 48, 30, 32, 32768, 20, 20),
    "kepler": ((48,), 48, 47, 32, 65536, 12, 20),
    "maxwell": ((64, 96), 48, 24, 32, 65536, 7, 14),
    "pascal": ((64, 96), 48, 24, 32, 65536, 7, 14),
    "volta": ((96,), 48, 19, 32, 65536, 2, 16),
    "turing": ((32, 64), 48, 20, 32, 65536, 2, 16),
    "ampere": ((100, 164), 48, 23, 32, 65536, 2, 16),
    "ada": ((100,), 48, 24, 32, 65536, 2, 16),
    "hopper": ((228,), 227, 23, 32, 65536, 2, 14),
    "gcn": ((64,), 32, 64, 32, 65536, 8, 16),
    "rdna": ((64,), 64, 40, 32, 65536, 4, 16),
}

KB, MB = 1024, 1024 * 1024


class Text:
    """Lines of a .gpu file; a key that is put again takes the place of the old one."""

    def __init__(self):
        self.of = {}

    def put(self, key, value, unit, source=SOURCE):
        self.of[key] = f"{key} = {value} {unit}  # {source}"

    def text(self):
        return "\n".join(self.of.values()) + "\n"


def near(r, value, share):
    return value * (1 + share * (2 * r.random() - 1))


def put_cache(t, stem, size, line, ways, latency, scope, sector=None, mapping="modulo", policy="lru", level_of=None):
    """size: bytes, made a multiple of ways x line; with a hash the sets are a power of two."""
    sets = max(1, size // (ways * line))
    if mapping == "hash":
        while sets & (sets - 1):
            sets &= sets - 1
    if policy == "plru" and ways & (ways - 1):
        policy = "lru"
    t.put(stem + ".size", sets * ways * line, "bytes")
    t.put(stem + ".line", line, "bytes")
    t.put(stem + ".ways", ways, "count")
    t.put(stem + ".sets", sets, "count")
    t.put(stem + ".sector", sector or line, "bytes")
    t.put(stem + ".mapping", mapping, "name")
    t.put(stem + ".policy", policy, "name")
    t.put(stem + ".scope", scope, "name")
    t.put(stem + ".latency", latency, "cycles")
    return sets * ways * line


def device(r, t, family):
    sms, clock, memory, rate, last = r.choice(PARTS[family])
    cc, ptx, clusters, schedulers, interval, block, threads, blocks, warp = CORE[family]
    off = r.choice((1.0, 1.0, 0.83, 0.75))  # parts with some of their memory and SMs switched off
    per = r.choice(clusters)
    sms = max(per, int(near(r, sms * off, 0.1)) // per * per)
    clock = int(near(r, clock, 0.08))
    t.put("device.name", f'"{family}-like"', "name")
    for key, value, unit in (
        ("device.sm_count", sms, "count"), ("topology.sm_per_cluster", per, "count"), ("device.warp_size", warp, "count"),
        ("device.clock_hz", clock, "MHz"), ("device.target", f"sm_{cc}", "name"), ("device.ptx_version", ptx, "version"),
        ("device.compute_capability", f"{cc // 10}.{cc % 10}", "version"), ("device.max_threads_per_block", block, "count"),
        ("device.max_threads_per_sm", threads, "count"), ("device.max_warps_per_sm", threads // warp, "count"),
        ("device.max_blocks_per_sm", blocks, "count"), ("device.has_f64", "yes", "yes/no"),
        ("device.has_f16", "yes" if cc >= 70 else "no", "yes/no"), ("device.has_fma", "yes" if cc >= 20 else "no", "yes/no"),
        ("core.schedulers", schedulers, "count"), ("core.issue_interval", interval, "cycles"), ("core.default_op", "add.u32", "name"),
        ("core.policy", r.choice(("round_robin", "greedy", "oldest")), "name"),
        ("branch.independent_threads", "yes" if cc >= 70 and family != "rdna" else "no", "yes/no"),
        ("branch.latency", r.choice((8, 10, 16, 24)), "cycles"),
    ):  # fmt: skip
        t.put(key, value, unit)
    return dict(family=family, sms=sms, per=per, clock=clock, memory=memory, rate=rate * near(r, off, 0.05), last=int(last * off),
                cc=cc, warp=warp, schedulers=schedulers, clusters=sms // per, interval=interval)  # fmt: skip


def op(t, d, ops, latency, rate, unit, native=1):
    """A pipe of each scheduler is busy for warp x schedulers / rate; an operation takes at least as long."""
    copies = d["schedulers"] if unit != "dp" or d["wide"] else 1
    most = d["warp"] * d["schedulers"] / d["interval"]
    rate = min(rate, most) / native
    text = f"{rate:.3g}"
    text = text if float(text) <= most / native else f"{rate * 0.99:.3g}"
    latency = max(latency * native, int(d["warp"] * copies / float(text)) + 1)
    for key, value, of in (("latency", latency, "cycles"), ("throughput", text, "ops/clk/SM"), ("native_ops", native, "count"), ("unit", unit, "name")):
        t.put(f"arith.{ops}.{key}", value, of)


def arithmetic(r, t, d):
    a = ARITH[d["family"]]
    d["wide"] = a["double"] >= 32
    split = d["family"] in ("volta", "turing", "ampere", "ada", "hopper")  # integers beside single precision
    one = d["family"] in ("gcn", "rdna")  # one unit for nearly all
    integer, single = ("ip", "fp") if split else ("sp", "sp")
    double = "sp" if one else "dp"
    pipes = {integer, single, "sf"} | ({double} - {"sp"}) | ({"hp"} if d["cc"] >= 70 else set())
    for pipe in sorted(pipes):
        t.put(f"pipe.{pipe}.per", "sm" if pipe == "dp" and not d["wide"] else "scheduler" if d["schedulers"] > 1 else "sm", "name")
    t.put("pipe.mem.per", "sm", "name")
    simple = a["simple"]
    for ops in ("{add,sub,max,min}.{u32,s32}", "{and,or,xor,not}.b32"):
        op(t, d, ops, simple, a["integer"], integer)
    for ops in ("shl.b32", "shr.{u32,s32}"):
        op(t, d, ops, simple, a["integer"] / r.choice((1, 2)), integer)
    native = 4 if a["product"] < 4 else 1
    fast = single if split else integer
    op(t, d, "{mul,mad}.{u32,s32}", simple + (0 if native > 1 else r.choice((0, 1, 3))), a["product"] * native, fast, native)
    op(t, d, "mulhi.{u32,s32}", simple, min(a["product"] * native, a["integer"]), fast, native + 1)
    op(t, d, "{div,rem}.{u32,s32}", simple, a["integer"], integer, r.choice((18, 24, 28)))
    op(t, d, "{add,sub,mul,mad}.f32", simple, a["single"], single)
    if d["cc"] >= 20:
        op(t, d, "fma.f32", simple, a["single"], single)
    op(t, d, "{max,min}.f32", simple, min(a["single"], a["integer"]), integer)
    op(t, d, "div.f32", simple, a["single"], single, r.choice((8, 10, 15)))
    op(t, d, "{rcp,rsqrt,lg2}.f32", a["slow"], a["special"], "sf")
    op(t, d, "{sin,cos,ex2,sqrt}.f32", a["slow"], a["special"], "sf", r.choice((1, 2)))
    op(t, d, "{add,sub,mul,mad,fma}.f64", a["twice"], a["double"], double)
    op(t, d, "{max,min}.f64", a["twice"], a["double"], double, r.choice((1, 2)))
    op(t, d, "div.f64", a["twice"], a["double"], double, r.choice((10, 13, 15)))
    if d["cc"] >= 70:
        op(t, d, "{add,mul,fma}.{f16,f16x2}", simple + r.choice((0, 2)), 64, "hp")


def inside(r, t, d):
    sizes, block, latency, banks, registers, clock, barrier = SM[d["family"]]
    size = r.choice(sizes)
    d["shared"] = size
    warps = d["cc"] >= 20
    for key, value, unit in (
        ("shared.size", size, "KB"), ("shared.per_block", min(block, size), "KB"), ("shared.latency", round(near(r, latency, 0.1)), "cycles"),
        ("shared.banks", banks, "count"), ("shared.bank_width", 4, "bytes"), ("shared.conflict_cost", r.choice((1, 2, 2, 4)), "cycles"),
        ("load.shared.unit", "mem", "name"), ("load.shared.issue", r.choice((1, 2)) if warps else 4, "cycles"),
        ("regfile.registers_per_sm", registers, "count"), ("regfile.max_per_thread", 63 if d["cc"] == 20 else 255 if warps else 128, "count"),
        ("regfile.unit", 256 if warps else 512, "count"), ("regfile.allocation", "warp" if warps else "block", "name"),
        ("regfile.thread_quantum", r.choice((64, 128)), "count"), ("clock.read_latency", clock, "cycles"),
        ("clock.granularity", 2 if d["cc"] <= 20 else 1, "cycles"), ("clock.scope", r.choice(("sm", "cluster", "gpu")), "name"),
        ("barrier.latency", round(near(r, barrier, 0.2)), "cycles"),
    ):  # fmt: skip
        t.put(key, value, unit)


def constants(r, t, d, memory):
    """Latencies: of the first level some of an SM's, of the next ones between that and the L2's."""
    f = d["family"]
    table = {
        "tesla": [(2 * KB, 64, 4, 8, "sm"), (8 * KB, 256, 4, 81, "cluster"), (32 * KB, 256, 8, 220, "gpu")],
        "fermi": [(8 * KB, 64, 4, 48, "sm")],
        "kepler": [(2 * KB, 64, 4, 45, "sm"), (32 * KB, 256, 4, 100, "sm")],
        "maxwell": [(2 * KB, 64, 4, 28, "sm"), (32 * KB, 256, 4, 79, "sm")],
        "pascal": [(2 * KB, 64, 4, 27, "sm"), (32 * KB, 256, 4, 84, "sm")],
        "gcn": [(16 * KB, 64, 4, 40, "cluster")],
        "rdna": [(16 * KB, 64, 4, 26, "cluster")],
    }.get(f, [(2 * KB, 64, 4, 27, "sm"), (r.choice((46, 64, 128)) * KB, 256, r.choice((4, 8)), 90, "sm" if f != "hopper" else "cluster")])
    policy = r.choice(("lru", "lru", "plru"))
    for i, (size, line, ways, latency, scope) in enumerate(table):
        put_cache(t, f"cache.constant.l{i + 1}", size, line, ways, round(near(r, latency, 0.08)), scope, policy=policy)
    t.put("cache.constant.levels", len(table), "count")
    t.put("memory.constant.size", 64, "KB")
    t.put("load.constant.unit", "mem", "name")
    t.put("load.constant.issue", r.choice((1, 2, 4)), "cycles")
    if d["l2"]:
        t.put("cache.constant.backing", "global.l2", "name")
        t.put("memory.constant.latency", memory, "cycles")
    else:
        t.put("memory.constant.latency", max(memory, 300), "cycles")


def l1_of(r, d):
    """KB, line, sector, ways, latency, policy; None: loads pass the L1 by."""
    return {
        "tesla": None,
        "fermi": (r.choice((16, 48)), 128, 128, r.choice((4, 6)), 96, "lru"),
        "kepler": None,
        "maxwell": (24, 128, 32, 4, 82, "lru"),
        "pascal": (r.choice((24, 48)), 128, 32, 4, 82, "lru"),
        "volta": (128, 128, 32, r.choice((32, 64)), 28, "lru"),
        "turing": (r.choice((32, 64)), 128, 32, 64, 32, "lru"),
        "ampere": (r.choice((128, 192)), 128, 32, r.choice((64, 96)), 33, "lru"),
        "ada": (128, 128, 32, 64, 33, "lru"),
        "hopper": (r.choice((208, 256)), 128, 32, r.choice((104, 128)), 32, "random"),
        "gcn": (16, 64, 64, 4, 114, "lru"),
        "rdna": (16, 128, 128, r.choice((4, 8)), 90, "lru"),
    }[d["family"]]


def globals_(r, t, d):
    f, drift = d["family"], near(r, 1, 0.08)
    l2 = {"tesla": 0, "fermi": 246, "kepler": 222, "maxwell": 207, "pascal": 216, "volta": 193, "turing": 188, "ampere": 200,
          "ada": 273, "hopper": 263, "gcn": 190, "rdna": 200}[f]  # fmt: skip
    memory = {"tesla": 440, "fermi": 500, "kepler": 371, "maxwell": 368, "pascal": 400, "volta": 400, "turing": 434, "ampere": 466,
              "ada": 541, "hopper": 560, "gcn": 350, "rdna": 420}[f]  # fmt: skip
    l2, memory = round(l2 * drift), round(memory * drift * near(r, 1, 0.05))
    first = l1_of(r, d)
    line = 64 if f == "gcn" else 128
    sector = line if f in ("gcn", "rdna") else 32
    d["l2"] = 0
    if first:
        size, of, piece, ways, latency, policy = first
        put_cache(t, "cache.global.l1", size * KB, of, ways, round(near(r, latency, 0.06)), "sm", piece, policy=policy)
        t.put("cache.global.l1.addressed", "virtual", "name")
    if d["last"]:
        ways = r.choice((16, 16, 24)) if d["last"] % 3 == 0 else 16
        d["l2"] = put_cache(t, "cache.global.l2", d["last"] * KB, line, ways, l2, "gpu", sector, r.choice(("hash", "modulo")))
        if f in ("volta", "ampere", "hopper") and d["last"] > 4096:
            t.put("cache.global.l2.partitions", 2, "count")
            t.put("cache.global.l2.far_extra", r.choice((40, 90, 160)), "cycles")
            memory += 200
    t.put("cache.global.levels", (first is not None) + (d["l2"] > 0), "count")
    for key, value, unit in (
        ("memory.global.latency", memory, "cycles"), ("memory.global.size", d["memory"], "MB"),
        ("memory.global.bandwidth", round(d["rate"] * 1000 / d["clock"]), "bytes/clk"), ("memory.coalesce.segment", 64 if f == "gcn" else 32, "bytes"),
        ("load.global.unit", "mem", "name"), ("load.global.issue", r.choice((1, 1, 2)) if d["cc"] >= 20 else 4, "cycles"),
    ):  # fmt: skip
        t.put(key, value, unit)
    if r.random() < 0.7 and d["clusters"] > 1:
        most = r.randint(2, 9)
        spread = [r.randint(-most, most) for _ in range(d["clusters"] - 1)]
        while abs(sum(spread)) > most:
            i = r.randrange(len(spread))
            spread[i] -= 1 if sum(spread) > 0 else -1
            spread[i] = max(-most - 1, min(most + 1, spread[i]))
        t.put("network.cluster_offset", ", ".join(map(str, spread + [-sum(spread)])), "cycles")
    if r.random() < 0.5 and d["cc"] >= 20:
        t.put("outstanding.kind", "mshr" if f == "fermi" else "prt", "name")
        t.put("outstanding.entries", r.choice((44, 64, 128, 192)) if f != "fermi" else 128, "count")
        if f == "fermi":
            t.put("outstanding.merge", r.choice((4, 8, 32)), "count")
    t.put("outstanding.loads_per_warp", 0 if d["cc"] >= 50 else r.choice((0, 3, 4, 6)), "count")
    return l2, memory


def textures(r, t, d, l2, memory):
    f = d["family"]
    size, ways, latency, bits = {"tesla": (5, 20, 261, 0), "fermi": (12, 96, 220, 7), "kepler": (12, 96, 108, 7)}.get(f, (0, 0, 0, 0))
    if not size or r.random() < 0.3:
        return
    # A vain look at the first level, and the way back through the filters, come on top of what a load takes.
    latency = round(near(r, latency, 0.05))
    put_cache(t, "cache.texture.l1", size * KB, 32, ways, latency, "cluster" if f == "tesla" else "sm")
    t.put("cache.texture.l1.addressed", "virtual", "name")
    if bits:
        t.put("cache.texture.l1.set_bits_from", bits, "count")
    if d["l2"]:
        for key in ("size", "line", "ways", "sets", "sector", "mapping", "policy", "scope", "partitions", "far_extra"):
            line = t.of.get(f"cache.global.l2.{key}")
            if line:
                t.of[f"cache.texture.l2.{key}"] = line.replace("cache.global", "cache.texture")
        behind = max(l2 + 30, latency + 40)
        t.put("cache.texture.l2.latency", behind, "cycles")
        t.put("cache.texture.l2.shared_with", "global.l2", "name")
        t.put("memory.texture.latency", behind + memory - l2, "cycles")
    else:
        put_cache(t, "cache.texture.l2", r.choice((128, 192, 256)) * KB, 256, 8, latency + 110, "gpu")
        t.put("memory.texture.latency", max(memory + 60, latency + 230), "cycles")
    t.put("cache.texture.levels", 2, "count")
    t.put("load.texture.unit", "mem", "name")
    t.put("load.texture.issue", r.choice((4, 8)), "cycles")
    if f == "kepler" and r.random() < 0.5:
        t.put("cache.readonly.l1.shared_with", "texture.l1", "name")


def translation(r, t, d):
    f = d["family"]
    page, entries, line, second, ways, behind = {
        "tesla": (4 * KB, 16, 512 * KB, 8192, 8, 4 * KB), "fermi": (64 * KB, 16, 1 * MB, 64, 0, 1 * MB), "kepler": (128 * KB, 16, 2 * MB, 65, 0, 2 * MB),
        "maxwell": (128 * KB, 16, 128 * KB, 64, 0, 2 * MB), "pascal": (2 * MB, 16, 2 * MB, 64, 0, 32 * MB),
        "gcn": (64 * KB, 16, 64 * KB, 512, 8, 64 * KB), "rdna": (64 * KB, 32, 64 * KB, 1024, 8, 64 * KB),
    }.get(f, (2 * MB, r.choice((16, 32)), r.choice((2, 16)) * MB, *r.choice(((128, 0), (128, 8), (256, 8), (256, 16))), 32 * MB))  # fmt: skip
    if f == "tesla":
        return translation_of_tesla(r, t)
    if r.random() < 0.15:
        return None
    # A cache in an SM cannot wait for a TLB that all SMs share, unless it is looked up by virtual addresses.
    t.put("tlb.page_size", page, "bytes")
    t.put("tlb.global.levels", 2, "count")
    t.put("tlb.global.l1.entries", entries, "count")
    t.put("tlb.global.l1.line", line, "bytes")
    t.put("tlb.global.l1.scope", "sm", "name")
    if f == "kepler":
        t.put("tlb.global.l2.set_sizes", "17, 8, 8, 8, 8, 8, 8", "count")
    else:
        t.put("tlb.global.l2.entries", second, "count")
        if ways:
            t.put("tlb.global.l2.ways", ways, "count")
    t.put("tlb.global.l2.line", behind, "bytes")
    t.put("tlb.global.l2.scope", "gpu", "name")
    t.put("tlb.global.l2.latency", r.randint(8, 60), "cycles")
    t.put("tlb.global.miss_latency", r.randint(60, 300), "cycles")
    if "cache.texture.levels" in t.of:
        t.put("tlb.texture.shared_with", "global", "name")
    return None


def translation_of_tesla(r, t):
    t.put("tlb.page_size", 4, "KB")
    for path in ("global", "texture")[: 1 + ("cache.texture.levels" in t.of)]:
        t.put(f"tlb.{path}.levels", 2, "count")
        t.put(f"tlb.{path}.l1.entries", 16, "count")
        t.put(f"tlb.{path}.l1.line", 512, "KB")
        t.put(f"tlb.{path}.l1.sector", 4, "KB")
        t.put(f"tlb.{path}.l1.scope", "cluster", "name")
        t.put(f"tlb.{path}.l2.entries", r.choice((4096, 8192)), "count")
        t.put(f"tlb.{path}.l2.line", 4, "KB")
        t.put(f"tlb.{path}.l2.ways", 8, "count")
        t.put(f"tlb.{path}.l2.scope", "gpu", "name")
        t.put(f"tlb.{path}.l2.latency", r.randint(40, 55), "cycles")
        t.put(f"tlb.{path}.miss_latency", r.randint(190, 230), "cycles")


def instructions(r, t, d):
    """A first level beside the schedulers, whose fetches nothing waits for, and one of the SM or the cluster."""
    t.put("native.bytes", 16 if d["cc"] >= 70 and d["family"] != "rdna" else 8, "bytes")
    if r.random() < 0.4:
        return
    first, second = {"tesla": (4, 8), "fermi": (4, 16), "kepler": (8, 32), "gcn": (32, 64), "rdna": (32, 64)}.get(d["family"], (r.choice((8, 12, 16)), 128))
    line = 256 if d["family"] == "tesla" else r.choice((64, 128))
    put_cache(t, "cache.instruction.l1", first * KB, line, r.choice((4, 4, 8)), 0, "sm")
    put_cache(t, "cache.instruction.l2", second * KB, max(line, 128), r.choice((4, 8)), r.randint(30, 80), "cluster" if d["per"] > 1 else "sm")
    t.put("cache.instruction.levels", 2, "count")
    t.put("cache.instruction.fetch_bytes", r.choice((32, 64)), "bytes")
    t.put("memory.instruction.latency", r.randint(200, 500), "cycles")


def noise(r, t, d):
    """As mild as notes of recorded cards say; a refresh in 3.9 us, as JEDEC has it."""
    if r.random() < 0.2:
        return
    t.put("noise.jitter_probability", r.choice((0.005, 0.01, 0.02)), "ratio")
    t.put("noise.jitter_cycles", r.randint(4, 24), "cycles")
    t.put("noise.refresh_interval", round(3.9 * d["clock"] * r.choice((1, 2))), "cycles")
    t.put("noise.refresh_cycles", r.randint(60, 240), "cycles")
    if r.random() < 0.3:
        t.put("noise.neighbour_rate", f"{r.uniform(0.02, 0.5):.3f}", "evictions/kcycle")
    if r.random() < 0.2:
        t.put("noise.boost", f"{r.uniform(0.01, 0.06):.3f}", "ratio")
        t.put("noise.boost_interval", r.randint(2, 20) * 100000, "cycles")
        t.put("noise.boost_cycles", r.randint(1, 9) * 5000, "cycles")


def name(seed):
    return f"{NAMES[seed % len(NAMES)]}-{seed}"


def lines(seed, family):
    """A GPU of the family, as lines by key."""
    r = random.Random(f"families {seed}")
    t = Text()
    d = device(r, t, family)
    arithmetic(r, t, d)
    inside(r, t, d)
    l2, memory = globals_(r, t, d)
    constants(r, t, d, memory)
    textures(r, t, d, l2, memory)
    translation(r, t, d)
    instructions(r, t, d)
    noise(r, t, d)
    t.put("device.name", f'"{d["family"].capitalize()}-like {seed}"', "name")
    return t


def draw(seed):
    return lines(seed, NAMES[seed % len(NAMES)]).text()
