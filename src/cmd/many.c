#include "cmd/many.h"
#include "cmd/interrupt.h"
#include "cmd/side.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOOK_NS 20000000 /* between two looks at who has ended */

/* ---- which devices ---- */

/* The backend whose name begins `text`, up to a colon; NULL: none. */
static const struct gpu_ops *backend_of(const char *text)
{
	size_t count, n = strcspn(text, ":");
	const struct gpu_ops *const *all = gpu_backends(&count);

	for (size_t i = 0; i < count; i++)
		if (text[n] && strlen(all[i]->name) == n && strncmp(all[i]->name, text, n) == 0)
			return all[i];
	return NULL;
}

static bool is_all(const char *device)
{
	const char *colon = strchr(device, ':');

	return colon && strcmp(colon, ":all") == 0;
}

bool many_meant(const char *given)
{
	const char *comma = given;

	if (!given || is_all(given))
		return given != NULL;
	/* The name of a file may have a comma; what follows it is no device then. */
	while ((comma = strchr(comma, ',')) != NULL)
		if (backend_of(++comma))
			return true;
	return false;
}

static int add(struct cmd_context *c, struct many *all, const char *device)
{
	const char **more = ARENA_ARRAY(&c->arena, all->count + 1, const char *);
	char *copy = arena_strdup(&c->arena, device);

	if (!more || !copy)
		return cmd_fail(c, CMD_DEVICE, "out of memory");
	if (all->count)
		memcpy(more, all->device, all->count * sizeof(*more));
	more[all->count++] = copy;
	all->device = more;
	return CMD_OK;
}

static int add_all(struct cmd_context *c, struct many *all, const char *device)
{
	const struct gpu_ops *ops = backend_of(device);
	struct device_list list = {0};
	int rc = CMD_OK;

	if (!ops)
		return cmd_fail(c, CMD_USAGE, "'%s' names no kind of device; cuda:all, opencl:all and sim:all do",
				device);
	if (gpu_list(ops, &list, &c->error)) {
		mem_free(list.items);
		return CMD_DEVICE;
	}
	for (size_t i = 0; rc == CMD_OK && i < list.count; i++)
		rc = add(c, all, list.items[i].spec);
	if (!list.count)
		rc = cmd_fail(c, CMD_DEVICE, "%s are no devices: %s", device, list.note);
	mem_free(list.items);
	return rc;
}

int many_list(struct cmd_context *c, const char *given, struct many *all)
{
	char *copy = arena_strdup(&c->arena, given);
	int rc = copy ? CMD_OK : cmd_fail(c, CMD_DEVICE, "out of memory");

	*all = (struct many){0};
	for (char *at = copy, *end; rc == CMD_OK && at; at = end) {
		end = at;
		while ((end = strchr(end, ',')) != NULL && !backend_of(++end))
			;
		if (end)
			end[-1] = 0;
		rc = is_all(at) ? add_all(c, all, at) : add(c, all, at);
	}
	return rc;
}

/* ---- a process each ---- */

struct one {
	pid_t pid;  /* 0: not begun, or ended */
	int path;   /* where it says the file that it wrote */
	int code;   /* how it ended; -1: it has not */
	int killer; /* the signal that ended it, or 0 */
};

static int begin(struct cmd_context *c, struct one *o, const char *device, many_measure_fn *measure, void *ctx)
{
	const char *path = NULL;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return cmd_fail(c, CMD_DEVICE, "cannot begin %s: %s", device, strerror(errno));
	fflush(c->out);
	fflush(c->log);
	o->pid = fork();
	if (o->pid == 0) {
		/* Whoever kills the parent does not leave cards busy. */
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		const int rc = measure(ctx, device, &path);

		if (path && write(ends[1], path, strnlen(path, PATH_MAX - 1)) < 0)
			fprintf(c->log, "%s: the name of its file got lost: %s\n", device, path);
		fflush(c->log);
		_exit(rc);
	}
	close(ends[1]);
	o->path = ends[0];
	if (o->pid > 0)
		return CMD_OK;
	o->pid = 0;
	close(o->path);
	return cmd_fail(c, CMD_DEVICE, "cannot begin %s: %s", device, strerror(errno));
}

static void end(struct one *o, int status)
{
	o->pid = 0;
	o->killer = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	o->code = !o->killer ? WEXITSTATUS(status) : o->killer == SIGINT ? CMD_INTERRUPTED : CMD_DEVICE;
}

/* Waits a little, then looks who has ended. Returns how many still run. */
static size_t look(struct one *one, size_t count)
{
	const struct timespec pause = {.tv_nsec = LOOK_NS};
	size_t running = 0;
	int status;

	nanosleep(&pause, NULL);
	for (size_t i = 0; i < count; i++) {
		if (!one[i].pid)
			continue;
		if (waitpid(one[i].pid, &status, WNOHANG) == one[i].pid)
			end(&one[i], status);
		running += one[i].pid != 0;
	}
	return running;
}

/* Ctrl-C reaches them by the terminal, and kill(1) only us: they are told once more, which costs none of them anything. */
static void stop(const struct one *one, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (one[i].pid)
			kill(one[i].pid, SIGTERM);
}

static const char *how(const struct one *o, bool begun)
{
	if (!begun)
		return "not begun";
	switch (o->code) {
	case CMD_OK:
		return "done";
	case CMD_INCOMPLETE:
		return "incomplete";
	case CMD_INTERRUPTED:
		return "interrupted";
	default:
		return o->killer ? "died" : "failed";
	}
}

static int tell(struct cmd_context *c, const struct many *all, struct one *one, size_t begun)
{
	size_t good = 0;
	struct str out;
	int worst = CMD_OK, rc;

	str_init(&out);
	for (size_t i = 0; i < all->count; i++) {
		char path[PATH_MAX];
		const ssize_t n = i < begun ? read(one[i].path, path, sizeof(path) - 1) : 0;

		path[n > 0 ? n : 0] = 0;
		if (i < begun)
			close(one[i].path);
		str_addf(&out, "%-12s %-12s %s\n", all->device[i], how(&one[i], i < begun), *path ? path : "no file");
		good += one[i].code == CMD_OK;
		worst = one[i].code > worst ? one[i].code : worst;
	}
	rc = cmd_print(c, &out);
	str_free(&out);
	if (rc || !worst)
		return rc;
	return cmd_fail(c, (enum cmd_exit)worst, "%zu of %zu devices were measured to the end", good, all->count);
}

int many_run(struct cmd_context *c, const struct many *all, many_measure_fn *measure, void *ctx)
{
	struct one *one = ARENA_ARRAY(&c->arena, all->count, struct one);
	size_t begun = 0, running = 0;
	bool stopped = false;
	int rc = CMD_OK;

	if (!one)
		return cmd_fail(c, CMD_DEVICE, "out of memory");
	const unsigned workers = side_workers(c, all->count);
	for (size_t i = 0; i < all->count; i++)
		one[i].code = CMD_INTERRUPTED;
	interrupt_watch();
	while (running || (begun < all->count && !stopped && rc == CMD_OK)) {
		while (running < workers && begun < all->count && !stopped && rc == CMD_OK) {
			rc = begin(c, &one[begun], all->device[begun], measure, ctx);
			running += rc == CMD_OK;
			begun += rc == CMD_OK;
		}
		running = look(one, begun);
		if (!stopped && interrupt_requested()) {
			stopped = true;
			stop(one, begun);
		}
	}
	const int told = tell(c, all, one, begun);
	return rc == CMD_OK ? told : rc;
}
