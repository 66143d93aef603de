#include "cmd/progress.h"
#include <stdarg.h>
#include <string.h>

#define REDRAW_SECONDS 0.1
#define PLAIN_SECONDS  10.0

static void clear_line(struct progress *p)
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
	va_list ap;

	clear_line(p);
	va_start(ap, fmt);
	vfprintf(p->log, fmt, ap);
	va_end(ap);
	fputc('\n', p->log);
	fflush(p->log);
}

static void draw(struct progress *p, const char *text)
{
	/* One column short: a full line would wrap on some terminals. */
	clear_line(p);
	fprintf(p->log, "%.*s", (int)(p->width ? p->width - 1 : 79), text);
	fflush(p->log);
	p->dirty = true;
}

void progress_begin(struct progress *p, const struct probe *probe, unsigned index, unsigned total)
{
	p->index = index + 1;
	p->total = total;
	p->points = 0;
	p->drawn = 0;
	if (p->live) {
		char line[256];

		snprintf(line, sizeof(line), "[%u/%u] %s: %s", p->index, p->total, probe->name, probe->asks);
		draw(p, line);
	} else {
		progress_say(p, "[%u/%u] %s: %s", p->index, p->total, probe->name, probe->asks);
	}
}

void progress_step(struct progress *p, const struct probe *probe, size_t done, size_t wished, double seconds,
		   double now)
{
	char left[40], line[256];

	p->points = done;
	if (p->drawn == 0)
		p->drawn = now;
	if (now - p->drawn < (p->live ? REDRAW_SECONDS : PLAIN_SECONDS))
		return;
	p->drawn = now;
	progress_left(left, sizeof(left), done, wished, seconds);
	if (p->live) {
		snprintf(line, sizeof(line), "[%u/%u] %s: %zu of %zu points%s%s  %s", p->index, p->total, probe->name,
			 done, wished, *left ? ", " : "", left, probe->asks);
		draw(p, line);
	} else {
		progress_say(p, "[%u/%u] %s: %zu of %zu points%s%s", p->index, p->total, probe->name, done, wished,
			     *left ? ", " : "", left);
	}
}

void progress_end(struct progress *p, const struct probe *probe, const struct probe_record *r)
{
	static const char *const words[] = {
	    [PROBE_PENDING] = "not begun",	 [PROBE_DONE] = "done",
	    [PROBE_FAILED] = "FAILED",		 [PROBE_SKIPPED] = "skipped",
	    [PROBE_INTERRUPTED] = "interrupted",
	};
	const char *word = (size_t)r->state < sizeof(words) / sizeof(words[0]) ? words[r->state] : "?";

	progress_say(p, "[%u/%u] %s: %s, %zu points in %.1f s%s%s", p->index, p->total, probe->name, word, p->points,
		     r->seconds, *r->message ? ": " : "", r->message);
}
