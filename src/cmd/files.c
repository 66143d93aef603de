#include "cmd/files.h"
#include "base/write.h"
#include "cmd/progress.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a failed store call means for the exit code: the file is bad, unless the machine is. */
static int file_code(int rc)
{
	switch (rc) {
	case -ENOMEM:
	case -ENOSPC:
	case -EBUSY:
	case -EROFS:
	case -EIO:
		return CMD_DEVICE;
	default:
		return CMD_FILE;
	}
}

int files_load_run(struct cmd_context *c, const char *path, struct run *r)
{
	int rc = store_load(r, path, &c->error);

	if (rc)
		return file_code(rc);
	snprintf(r->shown_by, sizeof(r->shown_by), "%s", c->build);
	return CMD_OK;
}

void files_say_foreign(struct cmd_context *c, const char *path, const struct run *r)
{
	char text[RUN_FOREIGN];

	if (*run_foreign(r, text))
		progress_say(&(struct progress){.log = c->log}, "%s: %s", path, text);
}

int files_open_run(struct cmd_context *c, const char *path, struct run *r, struct store **store)
{
	int rc = store_resume(store, path, &c->error);

	if (rc)
		return file_code(rc);
	rc = store_read(*store, r, &c->error);
	if (rc) {
		store_close(*store);
		*store = NULL;
		return file_code(rc);
	}
	snprintf(r->shown_by, sizeof(r->shown_by), "%s", c->build);
	return CMD_OK;
}

bool files_exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

int files_make_dir(struct cmd_context *c, const char *dir)
{
	char *path = arena_strdup(&c->arena, dir);
	struct stat st;

	if (!path)
		return cmd_fail(c, CMD_DEVICE, "out of memory");
	for (char *p = path + 1; *path; p++) {
		char was = *p;

		if (was && was != '/')
			continue;
		*p = 0;
		if (mkdir(path, 0777) && errno != EEXIST)
			return cmd_fail(c, CMD_DEVICE, "cannot make the directory %s: %s", path, strerror(errno));
		*p = was;
		if (!was)
			break;
	}
	if (stat(dir, &st) || !S_ISDIR(st.st_mode))
		return cmd_fail(c, CMD_FILE, "%s is there already and is not a directory", dir);
	return CMD_OK;
}

/* Into what is there already and no file: a terminal, a pipe, a device. */
static int write_through(struct cmd_context *c, const char *path, const struct str *text)
{
	int fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC), rc;

	if (fd < 0)
		return cmd_fail(c, CMD_DEVICE, "cannot write %s: %s", path, strerror(errno));
	rc = write_all(fd, str_text(text), text->len);
	if (close(fd) && rc == 0)
		rc = -errno;
	return rc == 0 ? CMD_OK : cmd_fail(c, CMD_DEVICE, "cannot write %s: %s", path, strerror(-rc));
}

int files_replace(struct cmd_context *c, const char *path, const struct str *text)
{
	char *part = arena_printf(&c->arena, "%s.part", path);
	struct stat there;
	int fd, rc;

	if (!part || text->failed)
		return cmd_fail(c, CMD_DEVICE, "out of memory");
	if (stat(path, &there) == 0 && !S_ISREG(there.st_mode)) /* /dev/stdout is no name to give to a file */
		return write_through(c, path, text);
	/* What somebody laid there, a link to elsewhere or what a killed fathom left, goes; nothing is written through it. */
	unlink(part);
	fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd < 0)
		return cmd_fail(c, CMD_DEVICE, "cannot write %s: %s", path, strerror(errno));
	rc = write_all(fd, str_text(text), text->len);
	if (close(fd) && rc == 0)
		rc = -errno;
	if (rc == 0 && rename(part, path))
		rc = -errno;
	if (rc == 0)
		return CMD_OK;
	unlink(part);
	return cmd_fail(c, CMD_DEVICE, "cannot write %s: %s", path, strerror(-rc));
}

/* A device's name as part of a file name: "NVIDIA H200" is "nvidia-h200", "sim:gpus/mine.gpu" is "mine". */
static void slug(char *out, size_t n, const struct device_info *d)
{
	const char *from = d->name, *colon = strchr(d->spec, ':');
	size_t k = 0, len;

	if (strcmp(d->backend, "sim") == 0 && colon) {
		const char *slash = strrchr(colon, '/');

		from = slash ? slash + 1 : colon + 1;
	}
	len = strlen(from);
	if (str_ends(from, ".gpu"))
		len -= 4;
	for (size_t i = 0; i < len && k + 1 < n; i++) {
		unsigned char ch = (unsigned char)from[i];

		if (ch < 0x80 && isalnum(ch))
			out[k++] = (char)tolower(ch);
		else if (k && out[k - 1] != '-')
			out[k++] = '-';
	}
	while (k && out[k - 1] == '-')
		k--;
	out[k] = 0;
	if (!k)
		snprintf(out, n, "gpu");
}

/* What is no letter, digit, '.', '_' or '-' becomes a '-': "cuda:0" is "cuda-0". */
static void add_part(struct str *out, const char *text)
{
	for (; *text; text++)
		str_addc(out, isalnum((unsigned char)*text) || strchr("._-", *text) ? *text : '-');
}

char *files_output(struct arena *a, const char *given, const struct device_info *d)
{
	char host[256] = "", *path;
	struct str out;

	if (gethostname(host, sizeof(host) - 1))
		snprintf(host, sizeof(host), "host");
	str_init(&out);
	for (const char *at = given; *at; at++) {
		const char what = at[0] == '%' ? at[1] : 0;

		if (what == 'h' || what == 'u' || what == 'd') {
			add_part(&out, what == 'h' ? host : what == 'u' ? d->uuid : d->spec);
			at++;
		} else {
			str_addc(&out, *at);
		}
	}
	path = out.failed ? NULL : arena_strdup(a, str_text(&out));
	str_free(&out);
	return path;
}

char *files_run_name(struct arena *a, const struct device_info *d, const char *date, unsigned attempt)
{
	char name[48];

	slug(name, sizeof(name), d);
	if (attempt < 2)
		return arena_printf(a, "fathom-%s-%s.fathom", name, date);
	return arena_printf(a, "fathom-%s-%s-%u.fathom", name, date, attempt);
}
