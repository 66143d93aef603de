#include "cmd/interrupt.h"
#include <signal.h>
#include <stddef.h>

/* A signal handler has no other way to tell: the one mutable global of the program's own. */
static volatile sig_atomic_t interrupt_flag;

static void note(int signo)
{
	(void)signo;
	interrupt_flag = 1;
}

void interrupt_watch(void)
{
	/* SA_RESETHAND gives the second signal its default: it kills. SA_RESTART: no system call has to care. */
	struct sigaction sa = {.sa_handler = note, .sa_flags = (int)SA_RESETHAND | SA_RESTART};

	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

	sigemptyset(&sa.sa_mask);
	interrupt_flag = 0;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		struct sigaction was;

		/* Under nohup, or in the background of a plain shell, somebody has decided that already. */
		if (sigaction(signals[i], NULL, &was) == 0 && was.sa_handler == SIG_IGN)
			continue;
		sigaction(signals[i], &sa, NULL);
	}
}

bool interrupt_requested(void)
{
	return interrupt_flag != 0;
}
