#!/usr/bin/env python3
"""Makes the folder of a new probe: a kernel that times a chain, and a study that looks at it. It builds and runs
as it stands, so that there is something to change.

Usage: new_probe.py NAME "What does it ask?" KEY [--unit UNIT --meaning "of what"]
Example: new_probe.py vote "What does a vote of a warp cost?" vote.latency --unit cycles --meaning "of one vote of a warp"

A key that src/data/keys.def does not have yet needs its unit and its meaning, and gets its line there.
"""
import argparse
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
KEYS = os.path.join(ROOT, "src", "data", "keys.def")

PTX = """// LENGTH dependent additions between two clock reads. Words: 2 + i: value of read i; then the chain's result.
.visible .entry chain(.param .u64 out, .param .u32 pin_sm, .param .u32 seed)
{
    .reg .u32 %r<8>;
    .reg .u64 %q<4>;
    .reg .f32 %f<4>;
    .reg .pred %p<2>;
#include pin
    // The operands come from the thread: what is the same for all threads may leave the pipe that is timed.
    mov.u32 %r0, %tid.x;
    ld.param.u32 %r1, [seed];
    add.u32 %r0, %r0, %r1;
    cvt.rn.f32.u32 %f0, %r0;
    add.f32 %f1, %f0, 0f3F800000;
    ld.param.u64 %q0, [out];
    mov.u32 %r4, 0;
LOOP:
    .pragma "nounroll";
    mov.u32 %r2, %clock;
#repeat $LENGTH
    add.f32 %f0, %f0, %f1;
#end
    mov.u32 %r3, %clock;
    // Twice, so that the second pass finds its instructions in the cache.
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p0, %r4, 2;
    @%p0 bra LOOP;
    st.global.u32 [%q0 + 8], %r2;
    st.global.u32 [%q0 + 12], %r3;
    st.global.f32 [%q0 + 16], %f0;
    ret;
}
"""

C = """/* @ASKS@ */
#include "probe/probe.h"
#include "stat/stat.h"
#include <stdio.h>

enum { EXPERIMENT_CHAIN };
enum { SHORT = 64, LONG = 128, WORDS = 5 };

/* x: operations between the two clock reads. */
static int setup_chain(const struct study *s, double x, const double *p, struct job *j)
{
	(void)p;
	j->template_path = "probes/@NAME@/@NAME@.ptx";
	job_param(j, "LENGTH", (long long)x);
	snprintf(j->launch.entry, sizeof(j->launch.entry), "chain");
	j->launch.block[0] = j->launch.block[1] = j->launch.block[2] = 1;
	job_output(j, WORDS);
	job_pin(j, study_device(s), 0);
	job_arg_u32(j, 5);
	j->launch.repeats = 5;
	j->launch.warmups = 1;
	/* What is timed must be what was written: a chain that the compiler folded is INVALID. */
	j->check.cls = NATIVE_ALU;
	j->check.min = j->check.max = (unsigned)x;
	return 0;
}

static const struct experiment experiments[] = {
    [EXPERIMENT_CHAIN] = {.name = "chain", .axis = "operations", .unit = "count", .setup = setup_chain},
};

/* Cycles between the two reads, the median of all repeats. */
static double cycles(const struct point *pt)
{
	double v[16], scratch[16];
	size_t n = 0;

	for (uint32_t r = 0; r < pt->repeats && n < 16; r++) {
		const uint32_t *words = pt->y + (size_t)r * pt->words_per_repeat;

		v[n++] = (double)(uint32_t)(words[3] - words[2]);
	}
	return n ? stat_median(v, n, scratch) : 0;
}

static void study_@NAME@(struct study *s)
{
	const struct point *brief = study_ask(s, EXPERIMENT_CHAIN, SHORT, NULL);
	const struct point *lasting = study_ask(s, EXPERIMENT_CHAIN, LONG, NULL);
	double each;

	if (study_pending(s))
		return;
	if (!brief || !lasting || brief->outcome != OUTCOME_OK || lasting->outcome != OUTCOME_OK) {
		study_verdict(s, "@KEY@", VERDICT_INCONCLUSIVE, "chain", "a chain could not be timed");
		return;
	}
	/* n and 2n: what both cost alike (the clock reads) cancels. */
	each = (cycles(lasting) - cycles(brief)) / (LONG - SHORT);
	/* Once the kernel times what the probe asks: study_measured_number. */
	study_verdict(s, "@KEY@", VERDICT_INCONCLUSIVE, "chain",
		      "the kernel still times an addition: %g cycles", each);
}

static const char *const claims[] = {"@KEY@", NULL};

const struct probe probe_@NAME@ = {
    .name = "@NAME@",
    .asks = "@ASKS@",
    .source = "say here which paper and section, and what differs",
    .how = "say here in three sentences how it works",
    .fooled = "say here what can fool it, and how that is caught",
    .claims = claims,
    .experiments = experiments,
    .experiment_count = sizeof(experiments) / sizeof(experiments[0]),
    .study = study_@NAME@,
};
"""


def known_key(key):
    with open(KEYS, encoding="utf-8") as f:
        patterns = re.findall(r'"([a-z]+\.[^"]*)"', f.read())
    def matches(pattern):
        return re.fullmatch(re.sub(r"<[^>]+>", "[a-z0-9]+", pattern.replace(".", r"\.")), key)
    return any(matches(p) for p in patterns)


def add_key(key, unit, meaning):
    if not re.fullmatch(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)+", key):
        sys.exit(f"new-probe: '{key}' is no key; small words with dots between them, such as vote.latency")
    if '"' in meaning or "\\" in meaning:
        sys.exit("new-probe: the meaning is one plain sentence, without quotes")
    with open(KEYS, encoding="utf-8") as f:
        units = set(re.findall(r'^K\("[^"]+",\s*"([^"]+)"', f.read(), flags=re.M))
    if unit not in units:
        sys.exit(f"new-probe: '{unit}' is no unit; keys have {', '.join(sorted(units))}")
    with open(KEYS, "a", encoding="utf-8") as f:
        f.write(f'K("{key}", "{unit}", "{meaning}")\n')
    print(os.path.relpath(KEYS, ROOT))


def main():
    parser = argparse.ArgumentParser(usage=__doc__.strip())
    parser.add_argument("name")
    parser.add_argument("asks")
    parser.add_argument("key")
    parser.add_argument("--unit")
    parser.add_argument("--meaning")
    given = parser.parse_args()
    name, asks, key = given.name, given.asks, given.key
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        sys.exit(f"new-probe: '{name}' is no name; small letters, digits and _ only")
    if '"' in asks or "\\" in asks or "*/" in asks:
        sys.exit("new-probe: the question is one plain sentence, without quotes")
    new = not known_key(key)
    if new and not (given.unit and given.meaning):
        sys.exit(f"new-probe: '{key}' is no key yet; give its --unit and its --meaning, or take one of `fathom list keys`")
    folder = os.path.join(ROOT, "probes", name)
    if os.path.exists(folder):
        sys.exit(f"new-probe: probes/{name} is there already")
    if new:
        add_key(key, given.unit, given.meaning)
    os.makedirs(folder)
    for suffix, text in ((".c", C), (".ptx", PTX)):
        path = os.path.join(folder, name + suffix)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text.replace("@NAME@", name).replace("@ASKS@", asks).replace("@KEY@", key))
        print(os.path.relpath(path, ROOT))
    print(f"Next: make, then ./build/fathom run -d sim:toy -p {name}")


if __name__ == "__main__":
    main()
