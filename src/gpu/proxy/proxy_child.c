#include "gpu/proxy/proxy_child.h"
#include "gpu/proxy/proxy_wire.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct server {
	const struct gpu_ops *ops;
	struct gpu *g;
	struct wire in, out;
};

/* Every reply starts with these two. */
static void reply(struct server *s, int code, const struct err *e)
{
	int32_t c = code;

	wire_clear(&s->out);
	wire_put(&s->out, &c, sizeof c);
	wire_put(&s->out, e, sizeof *e);
}

static void serve_list(struct server *s)
{
	struct device_list list = {0};
	struct err e = {0};
	int r = s->ops->list(&list, &e);
	uint64_t count = list.count;

	reply(s, r, &e);
	wire_put(&s->out, list.note, sizeof list.note);
	wire_put(&s->out, &count, sizeof count);
	wire_put(&s->out, list.items, list.count * sizeof *list.items);
	mem_free(list.items);
}

static void serve_open(struct server *s)
{
	struct err e = {0};
	uint64_t seed = 0;
	int r = -EBADMSG;

	wire_get(&s->in, &seed, sizeof seed);
	const char *spec = wire_get_string(&s->in);
	if (!s->in.failed && !s->g)
		r = s->ops->open(&s->g, spec, seed, &e);
	reply(s, r, &e);
	if (r == 0)
		wire_put(&s->out, s->ops->info(s->g), sizeof(struct device_info));
}

/* How many kernels follow, and room for them: mem_free. NULL: the message is damaged (then *r is -EBADMSG), or there is no memory. */
static struct kernel_source *get_kernels(struct server *s, uint32_t *n, int *r, struct err *e)
{
	*r = -EBADMSG;
	if (!wire_get(&s->in, n, sizeof *n) || !s->g || *n > s->in.len)
		return NULL;
	struct kernel_source *src = mem_zero(*n, sizeof *src);
	if (!src) {
		*r = err_nomem(e);
		return NULL;
	}
	for (size_t i = 0; i < *n; i++) {
		src[i].name = wire_get_string(&s->in);
		src[i].entry = wire_get_string(&s->in);
		src[i].text = wire_get_string(&s->in);
		wire_get(&s->in, &src[i].group, sizeof src[i].group);
	}
	if (s->in.failed) {
		mem_free(src);
		return NULL;
	}
	*r = 0;
	return src;
}

static void serve_load(struct server *s)
{
	struct err e = {0};
	uint32_t n = 0;
	int r;
	struct kernel_source *src = get_kernels(s, &n, &r, &e);
	uint32_t *ids = r ? NULL : mem_zero(n, sizeof *ids);
	struct native_info *native = r ? NULL : mem_zero(n, sizeof *native);

	if (!r)
		r = ids && native ? s->ops->load(s->g, src, n, ids, native, &e) : err_nomem(&e);
	reply(s, r, &e);
	if (r == 0) {
		wire_put(&s->out, ids, n * sizeof *ids);
		wire_put(&s->out, native, n * sizeof *native);
	}
	mem_free(src);
	mem_free(ids);
	mem_free(native);
}

static void serve_expect(struct server *s)
{
	struct err e = {0};
	uint32_t n = 0, soon = 0;
	int r;

	wire_get(&s->in, &soon, sizeof soon);
	struct kernel_source *src = get_kernels(s, &n, &r, &e);
	if (!r)
		r = s->ops->expect ? s->ops->expect(s->g, src, n, soon, &e) : -ENOTSUP;
	reply(s, r, &e);
	mem_free(src);
}

static void serve_uncompiled(struct server *s)
{
	struct err e = {0};
	uint32_t group = 0;

	wire_get(&s->in, &group, sizeof group);
	const uint64_t n = s->g && s->ops->uncompiled ? s->ops->uncompiled(s->g, group) : 0;

	reply(s, 0, &e);
	wire_put(&s->out, &n, sizeof n);
}

static void serve_run(struct server *s)
{
	struct sample sample = {0};
	struct launch l;
	struct err e = {0};
	uint32_t id = 0;

	wire_get(&s->in, &id, sizeof id);
	int r = wire_get_launch(&s->in, &l);
	if (r == 0)
		r = s->g ? s->ops->run(s->g, id, &l, &sample, &e) : -ENODEV;
	reply(s, r, &e);
	if (r == 0)
		wire_put_sample(&s->out, &sample);
	sample_free(&sample);
}

static void serve_sense(struct server *s)
{
	struct condition c = {-1, -1, -1, -1, -1};
	struct err e = {0};
	int r = s->g && s->ops->sense ? s->ops->sense(s->g, &c, &e) : -ENOTSUP;

	reply(s, r, &e);
	wire_put(&s->out, &c, sizeof c);
}

static void serve(const struct gpu_ops *ops, int fd)
{
	struct server s = {.ops = ops};
	uint32_t request;

	while (wire_receive(fd, &s.in, INT64_MAX) == 0 && wire_get(&s.in, &request, sizeof request)) {
		switch ((enum proxy_request)request) {
		case PROXY_LIST:
			serve_list(&s);
			break;
		case PROXY_OPEN:
			serve_open(&s);
			break;
		case PROXY_LOAD:
			serve_load(&s);
			break;
		case PROXY_EXPECT:
			serve_expect(&s);
			break;
		case PROXY_UNCOMPILED:
			serve_uncompiled(&s);
			break;
		case PROXY_RUN:
			serve_run(&s);
			break;
		case PROXY_SENSE:
			serve_sense(&s);
			break;
		case PROXY_CLOSE:
		default:
			goto end;
		}
		if (s.out.failed) { /* no memory for the answer: say at least that */
			struct err e = {0};
			reply(&s, err_nomem(&e), &e);
		}
		if (wire_send(fd, &s.out))
			break;
	}
end:
	if (s.g)
		ops->close(s.g);
	wire_free(&s.in);
	wire_free(&s.out);
}

/* Handlers of the parent would run its code in the child; a crash here has to be seen from outside as what it is. */
static void default_signals(void)
{
	static const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTERM, SIGHUP};

	for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
		signal(fatal[i], SIG_DFL);
}

int proxy_child_start(struct proxy_child *c, const struct gpu_ops *ops, struct err *e)
{
	int fd[2];
	pid_t parent = getpid();

	c->pid = 0;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd))
		return err_set(e, -errno, "no connection to a worker: %s", strerror(errno));
	pid_t pid = fork();
	if (pid < 0) {
		int code = -errno;
		close(fd[0]);
		close(fd[1]);
		return err_set(e, code, "no worker could be started: %s", strerror(-code));
	}
	if (pid == 0) {
		/* Ctrl-C goes to the whole group of the terminal; the parent decides what it means for a launch. */
		signal(SIGINT, SIG_IGN);
		signal(SIGPIPE, SIG_IGN);
		default_signals();
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent) /* it died in between */
			_exit(1);
		close(fd[0]);
		serve(ops, fd[1]);
		/* Not exit: what the parent had buffered for output is not ours to write. */
		_exit(0);
	}
	close(fd[1]);
	c->pid = pid;
	c->fd = fd[0];
	return 0;
}

/* A process in the driver's hands may take long to die; after a while it is left to the system. */
static bool reap(struct proxy_child *c, int ms, int *status)
{
	for (int spent = 0;; spent++) {
		pid_t k = waitpid(c->pid, status, WNOHANG);
		if (k == c->pid || (k < 0 && errno != EINTR))
			return k == c->pid;
		if (spent >= ms)
			return false;
		struct timespec t = {.tv_nsec = 1000000};
		nanosleep(&t, NULL);
	}
}

static void ended_how(char *how, size_t n, int status)
{
	if (WIFSIGNALED(status))
		snprintf(how, n, "was killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		snprintf(how, n, "ended with status %d", WEXITSTATUS(status));
}

void proxy_child_stop(struct proxy_child *c, char *how, size_t n)
{
	int status = 0;

	if (n)
		how[0] = 0;
	if (!c->pid)
		return;
	close(c->fd);
	/* One that is dying already is given the time to say why itself. */
	if (!reap(c, how ? 50 : 0, &status)) {
		kill(c->pid, SIGKILL);
		if (!reap(c, 10000, &status)) {
			if (how)
				snprintf(how, n, "cannot be killed");
			c->pid = 0;
			return;
		}
	}
	if (how)
		ended_how(how, n, status);
	c->pid = 0;
}

void proxy_child_wait(struct proxy_child *c, int ms)
{
	int status;

	if (c->pid && reap(c, ms, &status)) {
		close(c->fd);
		c->pid = 0;
	}
}
