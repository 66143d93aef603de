/* Who ends a program early wants what was counted until then. A signal ends the launch that is under way, and a thread of its own
 * writes what there is. */
#include "exec/driver.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

/* A process that the program forked has no such thread, and ends as it would without us. The second signal ends any. */
static void note(int signo)
{
	const int was = errno;
	const char c = (char)signo;
	if (getpid() != exec_process.owner)
		raise(signo); /* by default, once this one is over: SA_RESETHAND */
	else if (write(exec_process.told[1], &c, 1) == 1)
		exec_process.ending = signo;
	errno = was;
}

static void *end(void *none)
{
	char signo = 0;
	ssize_t n;
	do
		n = read(exec_process.told[0], &signo, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		return none;
	pthread_mutex_lock(&exec_process.lock);
	exec_say("ended by a signal: what follows is of what ran until then");
	exec_stats_write();
	exec_check_write();
	sigset_t one;
	sigemptyset(&one);
	sigaddset(&one, signo);
	signal(signo, SIG_DFL);
	pthread_sigmask(SIG_UNBLOCK, &one, NULL);
	raise(signo);
	_exit(EXEC_EXIT);
}

void exec_signals_open(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction sa = {.sa_handler = note, .sa_flags = (int)(SA_RESETHAND | SA_RESTART)}, was;
	sigset_t all, before;
	pthread_t thread;
	if ((!exec_process.stats && !exec_process.device[0].check) || pipe2(exec_process.told, O_CLOEXEC))
		return;
	exec_process.owner = getpid();
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before); /* the thread's own: it gets none */
	const bool bad = pthread_create(&thread, NULL, end, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	sigemptyset(&sa.sa_mask);
	for (unsigned k = 0; !bad && k < sizeof signals / sizeof *signals; k++)
		if (sigaction(signals[k], NULL, &was) == 0 && was.sa_handler == SIG_DFL) /* else the program's own */
			sigaction(signals[k], &sa, NULL);
}
