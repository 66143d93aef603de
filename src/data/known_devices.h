/* What a driver said about its devices when it was last asked, kept in a file. Its key tells states of the machine
 * apart. To start a driver takes more than a tenth of a second. Its devices are the same until something changes that
 * the key holds. */
#ifndef FATHOM_KNOWN_DEVICES_H
#define FATHOM_KNOWN_DEVICES_H
#include "data/device.h"
#include <stdbool.h>

/* Text, zeros behind it. Each adds to it; false: it does not fit, or cannot be told, so nothing can be known. */
#define KNOWN_KEY 4096
bool known_add(char key[KNOWN_KEY], const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Begins it: this program, this boot, this user, the container or the job that it runs in, and what the environment tells drivers. root: "". */
bool known_begin(char key[KNOWN_KEY], const char *root);
bool known_add_file(char key[KNOWN_KEY], const char *path); /* what its first bytes say */
bool known_add_stat(char key[KNOWN_KEY],
		    const char *path); /* whether it is there, and was replaced or given to others; never its content */
/* What add adds of all in a folder whose name begins so, in the order of names. False as well: there is nothing such. */
bool known_add_folder(char key[KNOWN_KEY], const char *path, const char *begins,
		      bool (*add)(char key[KNOWN_KEY], const char *path));
/* The devices that were kept under this key: appends them to list. A file that is missing, older, damaged, not the backend's, or of
 * devices that cannot be (device_check), is as good as none: false. */
bool known_read(struct device_list *list, const char *backend, const char *path, const char *key);
/* Keeps them. Nothing depends on it, so failing is silent, and no other process ever sees half a file. */
void known_write(const struct device_list *list, const char *path, const char *key);
/* ${XDG_CACHE_HOME:-$HOME/.cache}/fathom/NAME; false: neither is set. */
bool known_path(char *path, size_t n, const char *name);

#endif
