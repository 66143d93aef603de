/* Ctrl-C: the first asks to stop, the second ends the program at once. */
#ifndef FATHOM_INTERRUPT_H
#define FATHOM_INTERRUPT_H
#include <stdbool.h>

/* From now on the first SIGINT, SIGTERM or SIGHUP only asks for an end. To be called when there is something to keep: until then a signal ends
 * the program at once, whatever it waits for. */
void interrupt_watch(void);
bool interrupt_requested(void);

#endif
