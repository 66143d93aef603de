/* argv to command. The only file that prints errors and chooses how the program ends. */
#include "cmd/cmd.h"
#include "version.h"
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Names in an error come from files and argv: no control character of theirs may reach the terminal. */
static void print_error(const char *program, char *text)
{
	char clean[sizeof(((struct err *)0)->text)];

	for (char *at = text; (at = strchr(at, '\n')) != NULL;)
		*at = ' ';
	for (size_t n = strlen(text); n && text[n - 1] == ' ';)
		text[--n] = 0;
	str_clean(clean, sizeof(clean), text);
	fputs("fathom: ", stderr);
	/* Commands to type are told as the program was called. */
	for (const char *at = clean, *call; *at; at = call) {
		call = strstr(at, "`fathom ");
		if (!call) {
			fputs(at, stderr);
			break;
		}
		fprintf(stderr, "%.*s`%s", (int)(call - at), at, program);
		call += strlen("`fathom");
	}
	fputc('\n', stderr);
}

/* 0: neither a terminal nor the environment says so. */
static unsigned columns(int fd)
{
	const char *text = getenv("COLUMNS");
	struct winsize ws;
	long n = text ? strtol(text, NULL, 10) : 0;

	if (n <= 0 && ioctl(fd, TIOCGWINSZ, &ws) == 0)
		n = ws.ws_col;
	return n >= 20 && n <= 1000 ? (unsigned)n : 0;
}

static void look_at_terminal(struct cmd_context *c)
{
	const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
	bool smart = term && *term && strcmp(term, "dumb") != 0;
	bool out_tty = isatty(STDOUT_FILENO), log_tty = isatty(STDERR_FILENO);

	c->style.colour = out_tty && smart && !(no_color && *no_color);
	c->style.unicode = out_tty && smart && strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	c->style.width = columns(STDOUT_FILENO);
	c->log_live = log_tty && smart;
	c->log_width = columns(STDERR_FILENO);
}

static int print_text(struct cmd_context *c, struct str *text)
{
	int rc = cmd_print(c, text);

	str_free(text);
	return rc;
}

/* verb: NULL for the page about all of them. */
static int print_help(struct cmd_context *c, const struct cmd_verb *verb)
{
	struct str text;

	str_init(&text);
	if (verb)
		help_verb(&text, verb, c->style.width);
	else
		help_program(&text, c->style.width);
	return print_text(c, &text);
}

static int print_version(struct cmd_context *c)
{
	struct str text;

	str_init(&text);
	str_add(&text, "fathom " FATHOM_BUILD "\n");
	return print_text(c, &text);
}

static int print_man_page(struct cmd_context *c)
{
	struct str text;

	str_init(&text);
	help_man(&text, FATHOM_BUILD);
	return print_text(c, &text);
}

static int print_completion(struct cmd_context *c, const char *shell)
{
	struct str text;
	int rc = CMD_USAGE;

	str_init(&text);
	if (help_completion(&text, shell))
		rc = cmd_print(c, &text);
	else
		cmd_fail(c, CMD_USAGE, "completion is for bash, zsh and fish, not for '%s'", shell);
	str_free(&text);
	return rc;
}

static int unknown_command(struct cmd_context *c, const char *word)
{
	const char *near = cmd_nearest_verb(word);

	if (word[0] == '-')
		return cmd_fail(c, CMD_USAGE, "options come after a command, and '%s' is none; see `fathom --help`",
				word);
	if (near)
		return cmd_fail(c, CMD_USAGE, "there is no command '%s'; did you mean `fathom %s`?", word, near);
	return cmd_fail(c, CMD_USAGE, "there is no command '%s'; `fathom --help` lists them", word);
}

static int dispatch(struct cmd_context *c, int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : NULL;
	const struct cmd_verb *verb;
	int rc;

	if (!word)
		return cmd_fail(c, CMD_USAGE, "say what to do: start with `fathom run`, or see `fathom --help`");
	if (strcmp(word, "help") == 0 && argc > 2) {
		verb = cmd_find(argv[2]);
		return verb ? print_help(c, verb) : unknown_command(c, argv[2]);
	}
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0)
		return print_help(c, NULL);
	if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
		return print_version(c);
	if (strcmp(word, "--man") == 0) /* for the build */
		return print_man_page(c);
	if (strcmp(word, "--completion") == 0) /* for the build */
		return print_completion(c, argc > 2 ? argv[2] : "bash");
	verb = cmd_find(word);
	if (!verb)
		return unknown_command(c, word);
	argc -= 2;
	argv += 2;
	rc = cmd_parse(c, verb, &argc, &argv);
	if (rc)
		return rc;
	if (cmd_flag(c, "version"))
		return print_version(c);
	if (cmd_flag(c, "help"))
		return print_help(c, verb);
	return verb->run(c, argc, argv);
}

int main(int argc, char **argv)
{
	struct cmd_context c = {
	    .build = FATHOM_BUILD, .program = argc > 0 ? argv[0] : "fathom", .out = stdout, .log = stderr};
	int rc;

	setlocale(LC_CTYPE, "");
	/* A reader that goes away must not kill a run that is measuring. */
	signal(SIGPIPE, SIG_IGN);
	/* A limit on the size of files is told like a full disk. */
	signal(SIGXFSZ, SIG_IGN);
	arena_init(&c.arena);
	look_at_terminal(&c);
	rc = dispatch(&c, argc, argv);
	if (rc == CMD_OK || rc == CMD_INCOMPLETE) {
		/* What stdio still holds can fail as late as here. */
		if (fflush(stdout) && errno != EPIPE)
			rc = cmd_fail(&c, CMD_DEVICE, "cannot write to standard output: %s", strerror(errno));
	}
	if (rc != CMD_OK && c.error.text[0])
		print_error(c.program, c.error.text);
	arena_free(&c.arena);
	return rc;
}
