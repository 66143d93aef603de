/* The tree of a GPU for hwloc. An SM is a core with one processing unit, a group of SMs a Group, memory a NUMA node. */
#include "report/report_export.h"
#include "report/report_overview.h"
#include "report/report_svg.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define WORD 32 /* SMs of one word of a set */

struct tree {
	struct str *out;
	unsigned sms, objects;
};

/* SMs from `first` on, `n` of them, as hwloc writes sets: words of 32, the highest first. */
static void set(const struct tree *t, const char *name, unsigned first, unsigned n)
{
	str_addf(t->out, " %s=\"", name);
	for (unsigned w = (t->sms + WORD - 1) / WORD; w-- > 0;) {
		unsigned bits = 0;
		for (unsigned i = 0; i < WORD; i++)
			if (w * WORD + i >= first && w * WORD + i < first + n)
				bits |= 1u << i;
		str_addf(t->out, "0x%08x%s", bits, w ? "," : "");
	}
	str_addc(t->out, '"');
}

static void object(struct tree *t, const char *type, unsigned first, unsigned n)
{
	str_addf(t->out, "<object type=\"%s\" gp_index=\"%u\"", type, ++t->objects);
	set(t, "cpuset", first, n);
	set(t, "complete_cpuset", first, n);
	str_add(t->out, " nodeset=\"0x00000001\" complete_nodeset=\"0x00000001\"");
}

/* Opens a cache if it was found; what stands for an unknown line or number of ways is 0, as hwloc has it. */
static bool cache(struct tree *t, const struct run *r, unsigned level, unsigned first, unsigned n)
{
	char key[64];
	double size, line = 0, ways = 0;
	snprintf(key, sizeof(key), "cache.global.l%u.size", level);
	const struct finding *f = findings_get(&r->findings, key);
	if (!f || !finding_answered(f) || f->verdict == VERDICT_ABSENT || f->value.kind != VALUE_NUMBER)
		return false;
	size = f->value.number;
	snprintf(key, sizeof(key), "cache.global.l%u.line", level);
	overview_number(r, key, &line);
	snprintf(key, sizeof(key), "cache.global.l%u.ways", level);
	overview_number(r, key, &ways);
	object(t, level == 1 ? "L1Cache" : "L2Cache", first, n);
	str_addf(t->out,
		 " cache_size=\"%.0f\" depth=\"%u\" cache_linesize=\"%.0f\" cache_associativity=\"%.0f\" "
		 "cache_type=\"%d\">\n",
		 size, level, line, ways, level == 1);
	str_addf(t->out, "<info name=\"Verdict\" value=\"%s\"/>\n", verdict_name(f->verdict));
	return true;
}

static void sm(struct tree *t, const struct run *r, unsigned i)
{
	const bool l1 = cache(t, r, 1, i, 1);
	object(t, "Core", i, 1);
	str_addf(t->out, " os_index=\"%u\">", i);
	object(t, "PU", i, 1);
	str_addf(t->out, " os_index=\"%u\"/></object>\n", i);
	if (l1)
		str_add(t->out, "</object>\n");
}

static void groups(struct tree *t, const struct run *r)
{
	double count = 1;
	if (!overview_number(r, "topology.cluster_count", &count) || count < 1 || count > t->sms)
		count = 1;
	for (unsigned g = 0; g < (unsigned)count; g++) {
		const unsigned first = (unsigned)(g * t->sms / count), end = (unsigned)((g + 1) * t->sms / count);
		const bool group = count > 1 && count < t->sms;
		if (group) {
			object(t, "Group", first, end - first);
			str_add(t->out, " kind=\"0\" subkind=\"0\" name=\"SM group\">\n");
		}
		for (unsigned i = first; i < end; i++)
			sm(t, r, i);
		if (group)
			str_add(t->out, "</object>\n");
	}
}

int export_hwloc(struct str *out, const struct run *r, struct err *e)
{
	struct tree t = {.out = out, .sms = r->device.sm_count ? r->device.sm_count : 1};
	str_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology "
		     "version=\"2.0\">\n");
	object(&t, "Machine", 0, t.sms);
	set(&t, "allowed_cpuset", 0, t.sms);
	str_add(out, " os_index=\"0\" allowed_nodeset=\"0x00000001\">\n<info name=\"Backend\" value=\"fathom\"/>\n");
	object(&t, "Package", 0, t.sms);
	str_add(out, " os_index=\"0\">\n<info name=\"CPUModel\" value=\"");
	report_escaped(out, r->device.name);
	str_add(out, "\"/>\n");
	object(&t, "NUMANode", 0, t.sms);
	str_addf(out, " os_index=\"0\" local_memory=\"%llu\"/>\n", (unsigned long long)r->device.memory_bytes);
	const bool l2 = cache(&t, r, 2, 0, t.sms);
	groups(&t, r);
	str_addf(out, "%s</object>\n</object>\n</topology>\n", l2 ? "</object>\n" : "");
	return out->failed ? err_nomem(e) : 0;
}
