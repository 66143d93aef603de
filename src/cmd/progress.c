#include "cmd/progress.h"
#include "base/str.h"
#include <stdarg.h>
#include <string.h>

#define REDRAW_SECONDS 0.1
#define PLAIN_SECONDS  10.0

void progress_clear(struct progress *p)
{
	if (p->dirty)
		fputs("\r\033[K", p->log);
	p->dirty = false;
}

void progress_left(char *out, size_t n, size_t done, size_t wished, double seconds)
{
	double left;

	out[0] = 0;
	/* A guess from too few points misleads more than none. */
	if (done < 2 || wished <= done || seconds <= 0)
		return;
	left = seconds / (double)done * (double)(wished - done);
	if (left < 90)
		snprintf(out, n, "about %.0f s left", left < 1 ? 1 : left);
	else
		snprintf(out, n, "about %.0f min left", left / 60);
}

void progress_say(struct progress *p, const char *fmt, ...)
{
	char line[1024], clean[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	/* Names of devices and words of drivers are anybody's: none of their control characters may reach the terminal. */
	str_clean(clean, sizeof(clean), line);
	flockfile(p->log);
	progress_clear(p);
	/* In one piece: other processes may write lines of theirs. */
	fprintf(p->log, "%s%s%s\n", p->who ? p->who : "", p->who ? ": " : "", clean);
	fflush(p->log);
	funlockfile(p->log);
}

static void draw(struct progress *p, const char *text)
{
	/* One column short: a full line would wrap on some terminals. */
	progress_clear(p);
	fprintf(p->log, "%.*s", (int)(p->width ? p->width - 1 : 79), text);
	fflush(p->log);
	p->dirty = true;
}

bool progress_due(struct progress *p, double now)
{
	if (now - p->drawn < (p->live ? REDRAW_SECONDS : PLAIN_SECONDS))
		return false;
	p->drawn = now;
	return true;
}

void progress_line(struct progress *p, const char *line)
{
	if (p->live)
		draw(p, line);
	else
		progress_say(p, "%s", line);
}

void progress_begin(struct progress *p, const struct engine_at *at)
{
	p->drawn = 0;
	if (p->live) {
		char line[256];

		snprintf(line, sizeof(line), "[%u/%u] %s: %s", at->index + 1, at->total, at->probe->name,
			 at->probe->asks);
		draw(p, line);
	} else {
		progress_say(p, "[%u/%u] %s: %s", at->index + 1, at->total, at->probe->name, at->probe->asks);
	}
}

void progress_step(struct progress *p, const struct engine_at *at, double now)
{
	char left[40], line[256];

	if (p->drawn == 0)
		p->drawn = now;
	if (!progress_due(p, now))
		return;
	progress_left(left, sizeof(left), at->points_done, at->points_wished, at->seconds);
	snprintf(line, sizeof(line), "[%u/%u] %s: %zu of %zu points%s%s", at->index + 1, at->total, at->probe->name,
		 at->points_done, at->points_wished, *left ? ", " : "", left);
	if (p->live) {
		const size_t n = strlen(line);
		snprintf(line + n, sizeof(line) - n, "  %s", at->probe->asks);
		draw(p, line);
	} else {
		progress_say(p, "%s", line);
	}
}

void progress_times(struct progress *p, const struct run *r)
{
	struct probe_record sum = {.name = "all"};
	size_t points = 0;

	progress_say(p, "%-20s %9s %9s %9s %9s %8s %9s %8s", "seconds of", "total", "compiling", "launches", "thinking",
		     "kernels", "launched", "points");
	for (size_t i = 0; i <= r->probe_count; i++) {
		const struct probe_record *q = i < r->probe_count ? &r->probes[i] : &sum;
		/* Launches are sent to a child process and waited for, so the rest is this program's own thinking. */
		double rest = q->seconds - q->compile_seconds - q->launch_seconds;
		size_t n = 0;

		for (size_t k = 0; k < r->series_count; k++)
			n += strcmp(r->series[k].probe, q->name) == 0 ? r->series[k].count : 0;
		if (q == &sum && r->probe_count < 2)
			break;
		if (!q->launches && q != &sum)
			progress_say(p, "%-20s %9.2f %38s", q->name, q->seconds, "(not measured now)");
		else
			progress_say(p, "%-20s %9.2f %9.2f %9.2f %9.2f %8zu %9zu %8zu", q->name, q->seconds,
				     q->compile_seconds, q->launch_seconds, rest > 0 ? rest : 0, q->kernels,
				     q->launches, q == &sum ? points : n);
		points += n;
		sum.seconds += q->seconds;
		sum.compile_seconds += q->compile_seconds;
		sum.launch_seconds += q->launch_seconds;
		sum.kernels += q->kernels;
		sum.launches += q->launches;
	}
}

void progress_end(struct progress *p, const struct engine_at *at, const struct probe_record *r)
{
	static const char *const words[] = {
	    [PROBE_PENDING] = "not begun",	 [PROBE_DONE] = "done",
	    [PROBE_FAILED] = "FAILED",		 [PROBE_SKIPPED] = "skipped",
	    [PROBE_INTERRUPTED] = "interrupted",
	};
	const char *word = (size_t)r->state < sizeof(words) / sizeof(words[0]) ? words[r->state] : "?";

	progress_say(p, "[%u/%u] %s: %s, %zu points in %.1f s%s%s", at->index + 1, at->total, at->probe->name, word,
		     at->points_done, r->seconds, *r->message ? ": " : "", r->message);
}
