#include "base/write.h"
#include <errno.h>
#include <unistd.h>

int write_all(int fd, const void *data, size_t n)
{
	for (const char *at = data; n;) {
		ssize_t k = write(fd, at, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return k < 0 ? -errno : -EIO;
		at += k;
		n -= (size_t)k;
	}
	return 0;
}
