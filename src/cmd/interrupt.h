/* Ctrl-C: the first asks to stop, the second ends the program at once. */
#ifndef FATHOM_INTERRUPT_H
#define FATHOM_INTERRUPT_H
#include <stdbool.h>

void interrupt_watch(void); /* from now on SIGINT, SIGTERM and SIGHUP ask first */
bool interrupt_requested(void);

#endif
