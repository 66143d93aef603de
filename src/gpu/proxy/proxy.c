/* A gpu in a child process: a kernel that never ends, or a driver that crashes, costs one launch and not the run. */
#include "base/arena.h"
#include "base/str.h"
#include "gpu/proxy/proxy_ask.h"
#include "gpu/proxy/proxy_child.h"
#include "gpu/proxy/proxy_wire.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LAUNCH_LIMIT_MS	 5000  /* of a launch that names none: what the backends take too */
#define LAUNCH_MARGIN_MS 3000  /* filling buffers, and the backend's own time limit comes first */
#define OPEN_LIMIT_MS	 60000 /* a driver that initialises many GPUs */
#define LOAD_LIMIT_MS	 60000 /* and so long for each kernel on top */
#define LOAD_EACH_MS	 2000
#define SENSE_LIMIT_MS	 5000
#define CLOSE_LIMIT_MS	 2000

#define TRIES	2 /* of what a child died of, the last in a fresh one: it may have been killed for reasons of its own */
#define TASTERS 2 /* processes that wait for launches that may never end; each has a context of its own on the device */

/* A child and what is known of it. */
struct side {
	struct proxy_child child;
	uint32_t generation; /* the how-manieth child of the proxy it is; counts from 1 */
	bool opening;	     /* it was told to open the device and has not answered so far */
};

/* A kernel as a child knows it. */
struct side_kernel {
	uint32_t id;
	uint32_t generation; /* of the child; 0: in none yet */
};

struct proxy_kernel {
	char *name, *entry, *text; /* one allocation, at name */
	uint64_t hash;
	uint32_t group; /* for which it was expected last */
	struct native_info native;
	bool wanted;			  /* load was asked for it; else it is only expected so far */
	bool doubtful;			  /* a child died by itself that may have been compiling it ahead */
	struct side_kernel usual, tasted; /* in the usual child, and in the taster that had it last */
};

struct proxy {
	struct gpu base;
	struct gpu_ops ops; /* ours, under the backend's name */
	const struct gpu_ops *inner;
	char spec[512];
	uint64_t seed;
	struct device_info info;
	struct side usual; /* runs everything but launches that may hang while there is a taster */
	struct side taster[TASTERS];
	uint32_t children; /* so many were started */
	struct wire in, out;
	struct proxy_kernel *kernels;
	size_t count, cap;
};

/* What became of the child, as a sentence's end; it is stopped. One that did not die because of us may have died of what it was compiling. */
static void child_lost(struct proxy *p, struct side *s, int r, char *how, size_t n)
{
	proxy_child_stop(&s->child, how, n);
	for (size_t i = 0; i < p->count && r != -ETIMEDOUT && s == &p->usual; i++)
		p->kernels[i].doubtful |= !p->kernels[i].wanted;
	if (r == -ETIMEDOUT)
		snprintf(how, n, "did not answer");
	else if (r == -EBADMSG)
		snprintf(how, n, "answered nonsense");
}

static void put_kernels(struct proxy *p, const size_t *at, size_t n)
{
	uint32_t count = (uint32_t)n;

	wire_put(&p->out, &count, sizeof count);
	for (size_t i = 0; i < n; i++) {
		const struct proxy_kernel *k = &p->kernels[at[i]];
		wire_put_string(&p->out, k->name);
		wire_put_string(&p->out, k->entry);
		wire_put_string(&p->out, k->text);
		wire_put(&p->out, &k->group, sizeof k->group);
	}
}

/* Tells the child of kernels at[0..n) of the table. A child that is gone by then is the only failure that matters. */
static int expect_in_child(struct proxy *p, const size_t *at, size_t n, bool soon, struct err *e)
{
	uint32_t flag = soon;
	char how[80];
	int code = 0;

	if (!n)
		return 0;
	proxy_begin(&p->out, PROXY_EXPECT);
	wire_put(&p->out, &flag, sizeof flag);
	put_kernels(p, at, n);
	int r = proxy_ask(&p->usual.child, &p->out, &p->in, proxy_after(LOAD_LIMIT_MS), &code, e);
	if (r == -ENOMEM)
		return err_nomem(e);
	if (r) {
		child_lost(p, &p->usual, r, how, sizeof how);
		return err_set(e, -EIO, "the process that compiles kernels %s", how);
	}
	return code;
}

/* What nobody has loaded so far: a child that is gone took it along. What it may have died of is compiled when it is loaded, if ever. */
static int expect_again(struct proxy *p, struct err *e)
{
	size_t n = 0;
	size_t *at = mem_alloc((p->count + 1) * sizeof *at);

	if (!at)
		return err_nomem(e);
	for (size_t i = 0; i < p->count; i++)
		if (!p->kernels[i].wanted && !p->kernels[i].doubtful)
			at[n++] = i;
	int r = expect_in_child(p, at, n, false, e);
	mem_free(at);
	return r;
}

/* Forks a child and tells it to open the device. Its answer is still to be heard. */
static int start_child(struct proxy *p, struct side *s, struct err *e)
{
	int r = proxy_child_start(&s->child, p->inner, e);

	if (r)
		return r;
	s->generation = ++p->children;
	proxy_begin(&p->out, PROXY_OPEN);
	wire_put(&p->out, &p->seed, sizeof p->seed);
	wire_put_string(&p->out, p->spec);
	s->opening = true;
	if (p->out.failed) {
		proxy_child_stop(&s->child, NULL, 0);
		return err_nomem(e);
	}
	wire_send(s->child.fd, &p->out); /* one that is gone by now is told of when its answer is missing */
	return 0;
}

/* Hears what became of a child that was told to open the device. */
static int child_opened(struct proxy *p, struct side *s, struct device_info *info, struct err *e)
{
	char how[80];
	int code = 0, r = proxy_hear(&s->child, &p->in, proxy_after(OPEN_LIMIT_MS), &code, e);

	s->opening = false;
	if (r == -ENOMEM) {
		proxy_child_stop(&s->child, NULL, 0);
		return err_nomem(e);
	}
	if (r) {
		child_lost(p, s, r, how, sizeof how);
		return err_set(e, r == -ETIMEDOUT ? r : -EIO, "the process that opens %s:%s %s", p->inner->name,
			       p->spec, how);
	}
	if (code == 0 && !wire_get(&p->in, info, sizeof *info))
		code = err_set(e, -EIO, "the process that opens %s:%s answered nonsense", p->inner->name, p->spec);
	if (code)
		proxy_child_stop(&s->child, NULL, 0);
	return code;
}

/* One that dies gets one more try. */
static int open_usual(struct proxy *p, struct err *e)
{
	int r = 0;

	for (int tries = 0; tries < TRIES; tries++) {
		r = start_child(p, &p->usual, e);
		if (!r)
			r = child_opened(p, &p->usual, &p->info, e);
		if (r != -EIO)
			break;
	}
	return r;
}

/* The usual child is there and open. A taster is by whoever chose it. */
static int child_ready(struct proxy *p, struct side *s, struct err *e)
{
	struct err why = {0};

	if (s->child.pid)
		return 0;
	if (s != &p->usual)
		return err_set(e, -ENODEV, "the process for launches that may hang is gone");
	int r = open_usual(p, e);
	if (r == 0)
		expect_again(p, &why);
	/* One that dies of what it is to expect is followed by one that is told of nothing. */
	return r == 0 && !s->child.pid ? open_usual(p, e) : r;
}

static struct side_kernel *known_to(const struct proxy *p, const struct side *s, struct proxy_kernel *k)
{
	return s == &p->usual ? &k->usual : &k->tasted;
}

/* Loads kernels at[0..n) of the table into the child. */
static int load_once(struct proxy *p, struct side *s, const size_t *at, size_t n, struct err *e)
{
	char how[80];
	int code = 0, r = child_ready(p, s, e);

	if (r)
		return r;
	proxy_begin(&p->out, PROXY_LOAD);
	put_kernels(p, at, n);
	r = proxy_ask(&s->child, &p->out, &p->in, proxy_after(LOAD_LIMIT_MS + (int64_t)n * LOAD_EACH_MS), &code, e);
	if (r == -ENOMEM)
		return err_nomem(e);
	if (r) {
		child_lost(p, s, r, how, sizeof how);
		return err_set(e, r == -ETIMEDOUT ? r : -EIO, "the process that compiles kernel %s%s %s",
			       p->kernels[at[0]].name, n > 1 ? " and others" : "", how);
	}
	if (code == -ENODEV) /* its context is dead: the next call begins with a fresh one */
		proxy_child_stop(&s->child, NULL, 0);
	if (code)
		return code;
	for (size_t i = 0; i < n; i++) {
		struct side_kernel *k = known_to(p, s, &p->kernels[at[i]]);
		wire_get(&p->in, &k->id, sizeof k->id);
		k->generation = s->generation;
	}
	for (size_t i = 0; i < n; i++)
		wire_get(&p->in, &p->kernels[at[i]].native, sizeof(struct native_info));
	if (!p->in.failed)
		return 0;
	proxy_child_stop(&s->child, NULL, 0);
	return err_set(e, -EIO, "the process that compiles kernels answered nonsense");
}

/* The usual child is followed by another one; who chose a taster chooses again. */
static int load_in_child(struct proxy *p, struct side *s, const size_t *at, size_t n, struct err *e)
{
	int r = load_once(p, s, at, n, e);

	for (int tries = 1; r == -EIO && tries < TRIES && s == &p->usual && !s->child.pid; tries++)
		r = load_once(p, s, at, n, e);
	return r;
}

static struct proxy_kernel *add_kernel(struct proxy *p, const struct kernel_source *s, uint64_t hash)
{
	size_t name = strlen(s->name) + 1, entry = strlen(s->entry) + 1, text = strlen(s->text) + 1;

	if (p->count == p->cap) {
		size_t cap = p->cap ? p->cap * 2 : 64;
		struct proxy_kernel *grown = mem_grow(p->kernels, cap * sizeof *grown);
		if (!grown)
			return NULL;
		p->kernels = grown;
		p->cap = cap;
	}
	char *block = mem_alloc(name + entry + text);
	if (!block)
		return NULL;
	struct proxy_kernel *k = &p->kernels[p->count++];
	memset(k, 0, sizeof *k);
	k->hash = hash;
	k->name = memcpy(block, s->name, name);
	k->entry = memcpy(block + name, s->entry, entry);
	k->text = memcpy(block + name + entry, s->text, text);
	return k;
}

static size_t find_kernel(const struct proxy *p, const struct kernel_source *s, uint64_t hash)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->kernels[i].hash == hash && !strcmp(p->kernels[i].text, s->text) &&
		    !strcmp(p->kernels[i].entry, s->entry))
			return i;
	return SIZE_MAX;
}

/* Its place in the table, where it is put if it was not there. SIZE_MAX: no memory, as *e says. */
static size_t place_of(struct proxy *p, const struct kernel_source *s, struct err *e)
{
	uint64_t hash = hash64(s->text, strlen(s->text), 1);
	size_t k = find_kernel(p, s, hash);

	if (k != SIZE_MAX)
		return k;
	if (!add_kernel(p, s, hash)) {
		err_nomem(e);
		return SIZE_MAX;
	}
	return p->count - 1;
}

static void drop_kernels(struct proxy *p, size_t from)
{
	while (p->count > from)
		mem_free(p->kernels[--p->count].name);
}

static int proxy_load(struct gpu *g, const struct kernel_source *src, size_t n, uint32_t *ids,
		      struct native_info *native, struct err *e)
{
	struct proxy *p = (struct proxy *)g;
	size_t before = p->count, fresh = 0;
	size_t *at = mem_alloc(n * sizeof *at);
	int r = 0;

	if (!at)
		return err_nomem(e);
	for (size_t i = 0; i < n && r == 0; i++) {
		size_t k = place_of(p, &src[i], e);
		if (k == SIZE_MAX) {
			r = -ENOMEM;
			break;
		}
		if (!p->kernels[k].wanted)
			at[fresh++] = k;
		p->kernels[k].wanted = true;
		ids[i] = (uint32_t)k;
	}
	if (r == 0 && fresh)
		r = load_in_child(p, &p->usual, at, fresh, e);
	for (size_t i = 0; i < fresh && r; i++)
		p->kernels[at[i]].wanted = false;
	mem_free(at);
	if (r)
		drop_kernels(p, before);
	else if (native)
		for (size_t i = 0; i < n; i++)
			native[i] = p->kernels[ids[i]].native;
	return r;
}

static int proxy_expect(struct gpu *g, const struct kernel_source *src, size_t n, bool soon, struct err *e)
{
	struct proxy *p = (struct proxy *)g;
	size_t count = 0;
	size_t *at = mem_alloc((n + 1) * sizeof *at);
	int r = 0;

	if (!at)
		return err_nomem(e);
	for (size_t i = 0; i < n && r == 0; i++) {
		size_t k = place_of(p, &src[i], e);
		if (k == SIZE_MAX)
			r = -ENOMEM;
		else if (!p->kernels[k].wanted && !p->kernels[k].doubtful)
			at[count++] = k;
		if (k != SIZE_MAX)
			p->kernels[k].group = src[i].group;
	}
	/* Without a child there is nobody to tell: the next one is told of everything. */
	if (p->usual.child.pid && r == 0)
		r = expect_in_child(p, at, count, soon, e);
	mem_free(at);
	return r;
}

static size_t proxy_uncompiled(struct gpu *g, uint32_t group)
{
	struct proxy *p = (struct proxy *)g;
	struct err e = {0};
	uint64_t n = 0;
	char how[80];
	int code = 0;

	if (!p->usual.child.pid)
		return 0;
	proxy_begin(&p->out, PROXY_UNCOMPILED);
	wire_put(&p->out, &group, sizeof group);
	int r = proxy_ask(&p->usual.child, &p->out, &p->in, proxy_after(SENSE_LIMIT_MS), &code, &e);
	if (r && r != -ENOMEM)
		child_lost(p, &p->usual, r, how, sizeof how);
	return r == 0 && code == 0 && wire_get(&p->in, &n, sizeof n) ? (size_t)n : 0;
}

/* One attempt. -ENODEV: the child's gpu was lost before this launch, a fresh child may do it. */
static int run_in(struct proxy *p, struct side *s, uint32_t id, const struct launch *l, struct sample *out,
		  struct err *e)
{
	int64_t limit = (l->time_limit_ms ? l->time_limit_ms : LAUNCH_LIMIT_MS) + (int64_t)LAUNCH_MARGIN_MS;
	size_t at = id;
	char how[80];
	int code = 0, r = child_ready(p, s, e);
	const struct side_kernel *k = known_to(p, s, &p->kernels[id]);

	if (r == 0 && k->generation != s->generation)
		r = load_in_child(p, s, &at, 1, e);
	if (r)
		return r;
	proxy_begin(&p->out, PROXY_RUN);
	wire_put(&p->out, &k->id, sizeof k->id);
	wire_put_launch(&p->out, l);
	r = proxy_ask(&s->child, &p->out, &p->in, proxy_after(limit), &code, e);
	if (r == -ENOMEM)
		return err_nomem(e);
	if (r == 0 && code == 0) {
		r = wire_get_sample(&p->in, out);
		if (r == -ENOMEM)
			return err_nomem(e);
	}
	if (r == -ETIMEDOUT) {
		proxy_child_stop(&s->child, NULL, 0);
		out->outcome = OUTCOME_TIMEOUT;
		snprintf(out->message, sizeof out->message, "did not end within %lld ms and was killed",
			 (long long)limit);
		return 0;
	}
	if (r) {
		child_lost(p, s, r, how, sizeof how);
		out->outcome = OUTCOME_CRASH;
		snprintf(out->message, sizeof out->message, "the process that ran it %s", how);
		return 0;
	}
	/* After these the backend has said its last: whoever comes next gets a fresh child. */
	if (code == -ENODEV || (code == 0 && (out->outcome == OUTCOME_TIMEOUT || out->outcome == OUTCOME_CRASH)))
		proxy_child_stop(&s->child, NULL, 0);
	return code;
}

/* An open taster, NULL: there is none. Whoever still opens the device is waited for: a context that is being made would disturb whatever is
 * timed then. Those that could not are no more. */
static struct side *a_taster(struct proxy *p)
{
	struct side *one = NULL;

	for (size_t i = TASTERS; i-- > 0;) {
		struct side *s = &p->taster[i];
		struct device_info info; /* the usual child's is the one that counts */
		struct err why = {0};
		if (s->child.pid && (!s->opening || child_opened(p, s, &info, &why) == 0))
			one = s;
	}
	return one;
}

/* *died: which child it was, if it died or lost the device; else 0. */
static int run_once(struct proxy *p, uint32_t id, const struct launch *l, struct sample *out, uint32_t *died,
		    struct err *e)
{
	struct side *taster = a_taster(p), *s = taster;

	memset(out, 0, sizeof *out);
	out->elapsed_ms = -1;
	if (!l->may_hang)
		s = taster = NULL;
	int r = taster ? run_in(p, taster, id, l, out, e) : -ENODEV;
	/* If the taster itself failed, and not the launch, the usual child does it. A fresh one does it if its gpu was
	 * lost before. */
	if (r && (!taster || !taster->child.pid))
		r = run_in(p, s = &p->usual, id, l, out, e);
	if (r == -ENODEV)
		r = run_in(p, s = &p->usual, id, l, out, e);
	*died = r == 0 && out->outcome == OUTCOME_CRASH && !s->child.pid ? s->generation : 0;
	return r;
}

static int proxy_run(struct gpu *g, uint32_t id, const struct launch *l, struct sample *out, struct err *e)
{
	struct proxy *p = (struct proxy *)g;
	uint32_t died = 0;

	memset(out, 0, sizeof *out);
	if (id >= p->count)
		return err_set(e, -EINVAL, "%s: there is no kernel %u", l->label, id);
	/* All that are there may have been killed already: the last try is one in a child that was started for it. */
	int r = run_once(p, id, l, out, &died, e);
	for (const uint32_t before = p->children; r == 0 && died && died <= before;)
		r = run_once(p, id, l, out, &died, e);
	return r;
}

static void proxy_brace(struct gpu *g, unsigned probes)
{
	struct proxy *p = (struct proxy *)g;

	for (unsigned i = 0; i < TASTERS; i++) {
		struct side *s = &p->taster[i];
		struct err why = {0}; /* without it the usual child runs what may hang */
		if (s->child.pid && !probes)
			proxy_child_stop(&s->child, NULL, 0);
		else if (!s->child.pid && i < probes && s->generation == 0)
			start_child(p, s, &why);
	}
}

static int proxy_sense(struct gpu *g, struct condition *c, struct err *e)
{
	struct proxy *p = (struct proxy *)g;
	int code = 0;

	*c = (struct condition){-1, -1, -1, -1, -1};
	if (!p->usual.child.pid) /* not worth a fresh child: what is not known is negative */
		return 0;
	proxy_begin(&p->out, PROXY_SENSE);
	int r = proxy_ask(&p->usual.child, &p->out, &p->in, proxy_after(SENSE_LIMIT_MS), &code, e);
	if (r == -ENOMEM)
		return err_nomem(e);
	if (r == 0 && code == 0 && wire_get(&p->in, c, sizeof *c))
		return 0;
	if (r)
		proxy_child_stop(&p->usual.child, NULL, 0);
	return r ? 0 : code;
}

static const struct device_info *proxy_info(struct gpu *g)
{
	return &((struct proxy *)g)->info;
}

static void proxy_close(struct gpu *g)
{
	struct proxy *p = (struct proxy *)g;

	proxy_brace(g, 0);
	if (p->usual.child.pid) {
		proxy_begin(&p->out, PROXY_CLOSE);
		if (!p->out.failed && wire_send(p->usual.child.fd, &p->out) == 0)
			proxy_child_wait(&p->usual.child, CLOSE_LIMIT_MS);
		proxy_child_stop(&p->usual.child, NULL, 0);
	}
	drop_kernels(p, 0);
	mem_free(p->kernels);
	wire_free(&p->in);
	wire_free(&p->out);
	mem_free(p);
}

int gpu_open_proxy(struct gpu **out, const struct gpu_ops *ops, const char *spec, uint64_t seed, struct err *e)
{
	*out = NULL;
	if (strlen(spec) >= sizeof((struct proxy *)0)->spec)
		return err_set(e, -EINVAL, "the name of the device is too long");
	struct proxy *p = mem_zero(1, sizeof *p);
	if (!p)
		return err_nomem(e);
	p->inner = ops;
	p->seed = seed;
	memcpy(p->spec, spec, strlen(spec) + 1);
	p->ops = (struct gpu_ops){
	    .name = ops->name,
	    .help = ops->help,
	    .list = ops->list,
	    .open = ops->open,
	    .info = proxy_info,
	    .load = proxy_load,
	    .expect = ops->expect ? proxy_expect : NULL,
	    .uncompiled = ops->uncompiled ? proxy_uncompiled : NULL,
	    .brace = proxy_brace,
	    .run = proxy_run,
	    .apart = true,
	    .sense = ops->sense ? proxy_sense : NULL,
	    .close = proxy_close,
	};
	p->base.ops = &p->ops;
	int r = child_ready(p, &p->usual, e);
	if (r) {
		proxy_close(&p->base);
		return r;
	}
	*out = &p->base;
	return 0;
}
