/* What may lie beside a run file, and whether the file is still the one that was opened. */
#include "base/arena.h"
#include "base/write.h"
#include "store/store_file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The SQLite file format, section 1.3: bytes 18 and 19 of the header, 1 for a rollback journal and 2 for a write-ahead log. */
#define WRITES_BY_JOURNAL 1
enum { HEADER = 100, WRITE_VERSION = 18, READ_VERSION = 19, PAGE_BYTES = 16 };

/* The same, section 3: a journal begins with this word, and one that names a super-journal ends with it. */
static const unsigned char journal_magic[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};

char *store_beside(const char *path, const char *suffix)
{
	/* A name is a plain name: SQLite takes "file:..." and ":memory:" for more than that. */
	const char *here = *path == '/' ? "" : "./";
	const size_t n = strlen(here) + strlen(path) + strlen(suffix) + 1;
	char *name = mem_alloc(n);

	if (name)
		snprintf(name, n, "%s%s%s", here, path, suffix);
	return name;
}

static int read_at(const char *path, off_t at, void *to, size_t n)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		return -errno;
	const ssize_t got = pread(fd, to, n, at);
	close(fd);
	return got == (ssize_t)n ? 0 : -EIO;
}

/* A killed writer leaves a journal of its one file. SQLite deletes whatever a journal names as the super-journal of several files, so a
 * journal that names one is a stranger's. */
static int journal_look(const char *path, const char *journal, bool *left, struct err *e)
{
	unsigned char tail[sizeof(journal_magic)];
	struct stat st;

	*left = false;
	if (lstat(journal, &st) != 0)
		return errno == ENOENT
			   ? 0
			   : err_set(e, -errno, "%s-journal cannot be looked at: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return err_set(e, -EBADMSG, "%s-journal is not a regular file, and fathom did not make it; remove it",
			       path);
	if (st.st_size < (off_t)sizeof(tail))
		return 0;
	if (read_at(journal, st.st_size - (off_t)sizeof(tail), tail, sizeof(tail)))
		return err_set(e, -EIO, "%s-journal cannot be read", path);
	if (st.st_size > (off_t)sizeof(tail) && memcmp(tail, journal_magic, sizeof(tail)) == 0)
		return err_set(e, -EBADMSG,
			       "%s-journal names a further file, which no journal of fathom does; remove it", path);
	*left = true;
	return 0;
}

int store_look_beside(const char *path, bool *journal, struct err *e)
{
	unsigned char head[HEADER];
	char *name = store_beside(path, "-journal");

	if (!name)
		return err_nomem(e);
	int code = journal_look(path, name, journal, e);
	mem_free(name);
	if (code)
		return code;
	FILE *f = fopen(path, "rb");
	const bool read = f && fread(head, 1, sizeof(head), f) == sizeof(head);
	if (f)
		fclose(f);
	if (read && memcmp(head, "SQLite format 3", PAGE_BYTES) == 0 &&
	    (head[WRITE_VERSION] != WRITES_BY_JOURNAL || head[READ_VERSION] != WRITES_BY_JOURNAL))
		return err_set(e, -EINVAL, "%s keeps a write-ahead log, which no run file of fathom does", path);
	return 0;
}

static int copy_file(const char *from, const char *to)
{
	char buffer[1 << 16];
	const int in = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	int code = in < 0 ? -errno : 0;
	const int out = code ? -1 : open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (!code && out < 0)
		code = -errno;
	while (!code) {
		const ssize_t n = read(in, buffer, sizeof(buffer));
		if (n <= 0) {
			code = n < 0 ? -errno : 0;
			break;
		}
		code = write_all(out, buffer, (size_t)n);
	}
	if (in >= 0)
		close(in);
	if (out >= 0 && close(out) && !code)
		code = -errno;
	return code;
}

/* ---- a private copy ---- */

int store_copy(const char *path, char **copy, struct err *e)
{
	const char *tmp = getenv("TMPDIR");
	char *folder = store_beside(tmp && *tmp ? tmp : "/tmp", "/fathom-XXXXXX"), *name = store_beside(path, ""),
	     *journal = store_beside(path, "-journal"), *to = NULL, *to_journal = NULL;
	int code = folder && name && journal ? 0 : err_nomem(e);

	*copy = NULL;
	if (!code && !mkdtemp(folder))
		code = err_set(e, -errno, "no folder for a copy of %s can be made in %s: %s", path,
			       tmp && *tmp ? tmp : "/tmp", strerror(errno));
	if (!code) {
		to = store_beside(folder, "/copy");
		to_journal = store_beside(folder, "/copy-journal");
		code = to && to_journal ? copy_file(name, to) : -ENOMEM;
		if (!code)
			code = copy_file(journal, to_journal);
		if (code == -ENOENT) /* the writer ended in between, and took its journal along */
			code = -EAGAIN;
		if (code) {
			err_set(e, code, "%s could not be copied to %s: %s", path, folder, strerror(-code));
			store_copy_remove(to);
		}
	}
	mem_free(folder);
	mem_free(name);
	mem_free(journal);
	mem_free(to_journal);
	if (code)
		mem_free(to);
	else
		*copy = to;
	return code;
}

void store_copy_remove(char *copy)
{
	char *journal = copy ? store_beside(copy, "-journal") : NULL, *end = copy ? strrchr(copy, '/') : NULL;

	if (!copy)
		return;
	unlink(copy);
	if (journal)
		unlink(journal);
	*end = '\0';
	rmdir(copy);
	*end = '/';
	mem_free(journal);
}

/* ---- the file under a writer ---- */

static int looked_at(const char *path, struct store_mark *m)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return -errno;
	*m = (struct store_mark){.device = st.st_dev, .inode = st.st_ino, .size = st.st_size, .changed = st.st_mtim};
	return 0;
}

int store_mark(struct store *s, struct err *e)
{
	const int code = looked_at(s->name, &s->mark);

	return code ? err_set(e, -ESTALE, "%s is no longer there", s->path) : 0;
}

int store_unchanged(const struct store *s, bool content, struct err *e)
{
	struct store_mark now = {0};
	const int code = looked_at(s->name, &now);

	if (code)
		return err_set(e, -ESTALE, "%s was removed while it was being written", s->path);
	if (now.device != s->mark.device || now.inode != s->mark.inode)
		return err_set(e, -ESTALE, "%s was replaced by another file while it was being written", s->path);
	if (content && (now.size != s->mark.size || now.changed.tv_sec != s->mark.changed.tv_sec ||
			now.changed.tv_nsec != s->mark.changed.tv_nsec))
		return err_set(e, -ESTALE, "%s was changed by another program while it was being written", s->path);
	return 0;
}
