/* --help and the man page, all from the table in options.c. */
#include "cmd/cmd.h"
#include <string.h>

static const struct {
	int code;
	const char *text;
} exits[] = {
    {CMD_OK, "done"},
    {CMD_INCOMPLETE, "a probe failed, the time limit ended the run (what was measured is kept), a published value does "
		     "not come out, or compared runs differ"},
    {CMD_USAGE, "the command line makes no sense"},
    {CMD_DEVICE, "the device or the environment failed: no driver, no such device, full disk"},
    {CMD_FILE, "a file given to the command is missing, unreadable, damaged or not of its kind"},
    {CMD_INTERRUPTED, "interrupted by Ctrl-C; what was measured is kept"},
};

static const struct {
	const char *name, *text;
} environment[] = {
    {"NO_COLOR", "when set, no colour"},
    {"TERM", "dumb: no colour and no redrawn lines"},
    {"COLUMNS", "width of the reports, when the terminal does not say"},
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Columns of a page: the terminal's, as far as lines of that length are read easily. 0: no terminal says so. */
static size_t page(unsigned width)
{
	return !width || width > 80 ? 80 : width < 40 ? 40 : width;
}

enum { GLUE = '\1' }; /* a blank at which no line ends */

/* Adds text word by word, never past column `width`, continuation lines indented. `at` is where the line stands. A word that is too
 * long for a line is broken after a bar. */
static void wrap(struct str *out, const char *text, size_t at, size_t indent, size_t width)
{
	bool first = true, blank = false;

	while (*text) {
		size_t n = strcspn(text, " ");

		for (size_t k = indent + n > width ? width - indent : 0; k; k--)
			if (text[k - 1] == '|') {
				n = k;
				break;
			}
		if (!first && at + blank + n > width) {
			str_addf(out, "\n%*s", (int)indent, "");
			at = indent;
		} else if (blank) {
			str_addc(out, ' ');
			at++;
		}
		for (size_t i = 0; i < n; i++)
			str_addc(out, text[i] == GLUE ? ' ' : text[i]);
		at += n;
		text += n;
		blank = *text == ' ';
		text += strspn(text, " ");
		first = false;
	}
	str_addc(out, '\n');
}

void help_quote(struct str *out, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";

	if (*word && strspn(word, plain) == strlen(word)) {
		str_add(out, word);
		return;
	}
	str_addc(out, '\'');
	for (; *word; word++)
		str_add(out, *word == '\'' ? "'\\''" : (char[]){*word, 0});
	str_addc(out, '\'');
}

static void synopsis(struct str *out, const struct cmd_verb *v)
{
	str_addf(out, "fathom %s", v->name);
	if (*v->operands)
		str_addf(out, " %s", v->operands);
	for (const struct cmd_option *o = v->options; o->name; o++) {
		char word[64];

		if (o->letter)
			snprintf(word, sizeof(word), "-%c", o->letter);
		else
			snprintf(word, sizeof(word), "--%s", o->name);
		if (o->endings)
			str_addf(out, " [%s [%s]]", word, o->arg);
		else
			str_addf(out, o->required ? " %s%s%s" : " [%s%s%s]", word, o->arg ? " " : "",
				 o->arg ? o->arg : "");
		if (o->many)
			str_add(out, "...");
	}
}

/* The same in lines that begin at column `at`; an option and its value stay on one. */
static void usage(struct str *out, const struct cmd_verb *v, size_t at, unsigned width)
{
	struct str line;
	unsigned depth = 0;
	bool named = false; /* in an option's name, which its value follows */

	str_init(&line);
	synopsis(&line, v);
	for (size_t i = 0; i < line.len; i++) {
		const char at_i = line.data[i];

		depth += at_i == '[';
		depth -= at_i == ']';
		if (at_i == ' ' && (depth || named))
			line.data[i] = GLUE;
		named = at_i != ' ' && (named || (at_i == '-' && i && line.data[i - 1] == ' '));
	}
	wrap(out, str_text(&line), at, at + (page(width) < 72 ? 2 : 4), page(width));
	out->failed |= line.failed;
	str_free(&line);
}

static void options_text(struct str *out, const struct cmd_option *options, unsigned width)
{
	const int column = page(width) < 72 ? 8 : 32; /* of what each does */

	for (const struct cmd_option *o = options; o->name; o++) {
		char head[96];
		int n;

		n = snprintf(head, sizeof(head), "--%s%s%s%s", o->name,
			     o->endings ? " ["
			     : o->arg	? " "
					: "",
			     o->arg ? o->arg : "", o->endings ? "]" : "");
		str_addf(out, "  %c%c%c ", o->letter ? '-' : ' ', o->letter ? o->letter : ' ', o->letter ? ',' : ' ');
		if (6 + n <= column - 2) {
			str_addf(out, "%-*s", column - 6, head);
		} else {
			for (char *c = head; *c; c++)
				*c = *c == ' ' ? GLUE : *c;
			wrap(out, head, 6, 8, page(width));
			str_addf(out, "%*s", column, "");
		}
		wrap(out, o->help, (size_t)column, (size_t)column, page(width));
	}
}

static void exits_text(struct str *out, unsigned width)
{
	str_add(out, "\nExit codes:\n");
	for (size_t i = 0; i < COUNT(exits); i++) {
		str_addf(out, "  %-4d", exits[i].code);
		wrap(out, exits[i].text, 6, 6, page(width));
	}
}

void help_verb(struct str *out, const struct cmd_verb *v, unsigned width)
{
	str_add(out, "Usage: ");
	usage(out, v, 7, width);
	str_addc(out, '\n');
	wrap(out, v->about, 0, 0, page(width));
	str_add(out, "\nOptions:\n");
	options_text(out, v->options, width);
	options_text(out, cmd_common_options, width);
	str_add(out, "\nExamples:\n");
	for (const struct cmd_example *e = v->examples; e->line; e++) {
		str_addf(out, "  %s\n      ", e->line); /* whole, to be copied */
		wrap(out, e->what, 6, 6, page(width));
	}
}

void help_program(struct str *out, unsigned width)
{
	wrap(out, "fathom measures a GPU with microbenchmarks and says what it is.", 0, 0, page(width));
	str_add(out, "\nUsage:\n");
	for (size_t i = 0; i < cmd_verb_count; i++) {
		str_add(out, "  ");
		usage(out, &cmd_verbs[i], 2, width);
	}
	str_add(out, "\nCommands:\n");
	for (size_t i = 0; i < cmd_verb_count; i++) {
		str_addf(out, "  %-11s", cmd_verbs[i].name);
		wrap(out, cmd_verbs[i].summary, 13, 13, page(width));
	}
	str_addc(out, '\n');
	wrap(out, "`fathom COMMAND --help` explains a command with examples. Start with: fathom run", 0, 0,
	     page(width));
	exits_text(out, width);
}

/* ---- man page ---- */

/* A line of roff text: dashes that stand for themselves, no control line by accident. */
static void roff(struct str *out, const char *text)
{
	if (*text == '.' || *text == '\'')
		str_add(out, "\\&");
	for (; *text; text++) {
		if (*text == '-' || *text == '\\')
			str_addc(out, '\\');
		str_addc(out, *text == '`' ? '\'' : *text);
	}
}

static void man_options(struct str *out, const struct cmd_option *options)
{
	for (const struct cmd_option *o = options; o->name; o++) {
		str_add(out, ".TP\n");
		if (o->letter)
			str_addf(out, "\\fB\\-%c\\fR, ", o->letter);
		str_add(out, "\\fB\\-\\-");
		roff(out, o->name);
		str_add(out, "\\fR");
		if (o->arg) {
			str_add(out, o->endings ? " [\\fI" : " \\fI");
			roff(out, o->arg);
			str_add(out, o->endings ? "\\fR]" : "\\fR");
		}
		str_addc(out, '\n');
		roff(out, o->help);
		str_add(out, ".\n");
	}
}

static void man_verb(struct str *out, const struct cmd_verb *v)
{
	struct str line;

	str_add(out, ".SS ");
	str_init(&line);
	synopsis(&line, v);
	roff(out, str_text(&line));
	out->failed |= line.failed;
	str_free(&line);
	str_addc(out, '\n');
	roff(out, v->about);
	str_addc(out, '\n');
	man_options(out, v->options);
	str_add(out, ".PP\nExamples:\n");
	for (const struct cmd_example *e = v->examples; e->line; e++) {
		str_add(out, ".TP\n\\fB");
		roff(out, e->line);
		str_add(out, "\\fR\n");
		roff(out, e->what);
		str_add(out, ".\n");
	}
}

void help_man(struct str *out, const char *version)
{
	str_addf(out, ".TH FATHOM 1 \"\" \"fathom %s\" \"User Commands\"\n", version);
	str_add(out, ".SH NAME\nfathom \\- measure a GPU with microbenchmarks and infer what it is\n.SH SYNOPSIS\n");
	for (size_t i = 0; i < cmd_verb_count; i++) {
		struct str line;

		str_init(&line);
		synopsis(&line, &cmd_verbs[i]);
		roff(out, str_text(&line));
		out->failed |= line.failed;
		str_free(&line);
		str_add(out, "\n.br\n");
	}
	str_add(out,
		".SH DESCRIPTION\nfathom runs small kernels on a real or a simulated GPU and stores every raw sample "
		"in one "
		"run file. From the timings it concludes which caches, latencies and throughputs the GPU has. Each "
		"conclusion is a finding: a key, a verdict, a value with an interval, and its evidence.\n");
	str_add(out, ".SH COMMANDS\n");
	for (size_t i = 0; i < cmd_verb_count; i++)
		man_verb(out, &cmd_verbs[i]);
	str_add(out, ".SS Every command\n");
	man_options(out, cmd_common_options);
	str_add(out, ".SH VERDICTS\n"
		     ".TP\nMEASURED\nThe data exclude every other value outside the interval.\n"
		     ".TP\nLIKELY\nThe best estimate with its interval, marked ~: not proven, but right in at least 19 "
		     "of 20 cases.\n"
		     ".TP\nBOUND\nOnly \"at least\" or \"at most\" is known.\n"
		     ".TP\nABSENT\nThe structure was looked for and shown not to be there.\n"
		     ".TP\nINCONCLUSIVE\nIt was looked for; the data do not decide.\n"
		     ".TP\nUNSUPPORTED\nThis device cannot run the question.\n"
		     ".TP\nFAILED\nThe environment failed; never the GPU's property.\n");
	str_add(out, ".SH EXIT STATUS\n");
	for (size_t i = 0; i < COUNT(exits); i++) {
		str_addf(out, ".TP\n%d\n", exits[i].code);
		roff(out, exits[i].text);
		str_add(out, ".\n");
	}
	str_add(out,
		".SH FILES\n"
		".TP\nfathom\\-NAME\\-DATE.fathom\nWhat a run writes where no name is given: a SQLite database, "
		"whose view\n.B findings\nother programs may read.\n"
		".TP\nshare/fathom/gpus/NAME.gpu, share/fathom/papers/NAME.paper\nDescriptions of simulated GPUs and "
		"published values, as they are in the program: to read, copy and change.\n"
		".TP\nshare/fathom/report.schema.json\nThe shape of\n.B report \\-\\-format json\n(JSON Schema "
		"2020-12).\n"
		".TP\nlib/fathom/libcuda.so.1\nThe driver that\n.B exec\nputs before a program's own.\n");
	str_add(out, ".SH ENVIRONMENT\n");
	for (size_t i = 0; i < COUNT(environment); i++) {
		str_addf(out, ".TP\n%s\n", environment[i].name);
		roff(out, environment[i].text);
		str_add(out, ".\n");
	}
	str_add(out, ".SH SEE ALSO\n.BR sqlite3 (1),\n.BR nvidia\\-smi (1),\n.BR clinfo (1),\n.BR lstopo (1)\n");
}
